import { Duration, RemovalPolicy, Stack, Token } from 'aws-cdk-lib/core';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.js';
import { AlarmMaker, alarmPeriod, type AlarmOptions, type AlarmThreshold } from './alarms.js';
import { bundledFunctions, kitKeys } from './bundled-code.js';
import { EndpointAuthorization } from './endpoint-authorization.js';
import { addFunctionAlarms, type FunctionAlarmThresholds } from './function-alarms.js';
import { regionsWithoutFunctionUrls } from './function-url-regions.js';
import { literalText, refuse, refuseBoth } from './invalid-prop-error.js';
import type { KitFunctionOptions, OwnHandlerOptions } from './kit-function.js';
import { KitFunction } from './kit-function.js';
import { kitMetric, lambdaMetric } from './metrics.js';
import type { SafeWritesTable } from './safe-writes-table.js';

/** When an {@link IdempotentEndpoint} raises an alarm. */
export interface EndpointAlarmThresholds extends FunctionAlarmThresholds {
  /**
   * Answers in 5 minutes with a status of 500 and more: 503 where DynamoDB was not to be reached or throttled, 500 for a
   * fault of the handler's.
   *
   * @default 1
   */
  readonly serverErrors?: AlarmThreshold;
}

/** Settings of an {@link IdempotentEndpoint}. */
export interface IdempotentEndpointProps extends KitFunctionOptions, OwnHandlerOptions, AlarmOptions {
  /** Table that holds the effect and the answers to repeats. */
  readonly table: SafeWritesTable;

  /**
   * Path under which the endpoint takes POST, for example `/orders/{id}/payments`.
   *
   * @default '/charges', that of the function that the package ships
   */
  readonly path?: string;

  /**
   * Who may call it.
   *
   * @default EndpointAuthorization.iam()
   */
  readonly authorization?: EndpointAuthorization;

  /**
   * Whether a function URL takes the calls, and no HTTP API.
   *
   * @default false
   */
  readonly functionUrl?: boolean;

  /**
   * The API that the route is added to, with what its stages have of access logs and throttling.
   *
   * @default - a new API
   */
  readonly existingApi?: apigateway.IHttpApi;

  /**
   * Further settings of the new API. With `createDefaultStage: false`, its stages are yours, and their domains.
   *
   * @default - an API with one stage
   */
  readonly apiProps?: apigateway.HttpApiProps;

  /**
   * Requests that the new API's stage takes; more are answered with 429.
   *
   * @default - 1000 a second, and 1000 at once
   */
  readonly throttle?: apigateway.ThrottleSettings;

  /**
   * What the function does, shown in the console.
   *
   * @default - the method and the path
   */
  readonly description?: string;

  /**
   * When there is an alarm.
   *
   * @default - see EndpointAlarmThresholds
   */
  readonly alarmThresholds?: EndpointAlarmThresholds;
}

/** What the endpoint's handler measures: see docs/constructs.md. */
export type EndpointMetric =
  'Committed' | 'Replayed' | 'Refused' | 'Mismatch' | 'Conflict' | 'Invalid' | 'Unavailable' | 'Failed' | 'Duration';

/** JSON, and nothing of what a caller sends but where from. */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    requestId: '$context.requestId',
    requestTime: '$context.requestTime',
    sourceIp: '$context.identity.sourceIp',
    routeKey: '$context.routeKey',
    protocol: '$context.protocol',
    status: '$context.status',
    responseLength: '$context.responseLength',
    responseLatency: '$context.responseLatency',
    integrationStatus: '$context.integrationStatus',
    integrationErrorMessage: '$context.integrationErrorMessage',
    authorizerError: '$context.authorizer.error',
    errorMessage: '$context.error.message',
  }),
);

/**
 * A function behind an HTTP API or a function URL, which answers a repeated `Idempotency-Key` with the first call's
 * answer: the sample charge that the package ships, or a handler of yours made with `idempotent`.
 *
 * It may put items of the table, and check items in transactions, and nothing else; `tableActions` and
 * `transactWriteActions` say what your effect needs. At rest it costs nothing but its alarms.
 *
 * @example
 * ```ts
 * import { App, Stack, aws_lambda as lambda } from 'aws-cdk-lib';
 * import { IdempotentEndpoint, SafeWritesTable } from 'safewrites/cdk';
 *
 * const stack = new Stack(new App(), 'Shop');
 * const table = new SafeWritesTable(stack, 'Table');
 * new IdempotentEndpoint(stack, 'Charges', { table });
 * new IdempotentEndpoint(stack, 'Refunds', {
 *   table,
 *   path: '/refunds',
 *   code: lambda.Code.fromInline('export const handler = async () => ({ statusCode: 204 });'),
 *   transactWriteActions: ['ConditionCheckItem', 'UpdateItem'],
 * });
 * ```
 */
export class IdempotentEndpoint extends Construct {
  /** Where to send POST: by the domain of `defaultDomainMapping`, if there is one; of `existingApi`, through its default stage. */
  readonly url: string;

  /** The HTTP API, unless a function URL takes the calls. */
  readonly api: apigateway.IHttpApi | undefined;

  /** The stage of an API that is made here. */
  readonly stage: apigateway.HttpStage | undefined;

  /** The log group of that stage's access logs. */
  readonly accessLogGroup: logs.LogGroup | undefined;

  /** The route that the endpoint serves. */
  readonly route: apigateway.HttpRoute | undefined;

  /**
   * Whatever else is called of an API that is made here, which the endpoint answers with 404 or 405. There is none with
   * `corsPreflight` and an authorizer, which would refuse the preflights of browsers.
   */
  readonly fallback: apigateway.HttpRoute | undefined;

  /** The function URL, instead of an API. */
  readonly functionUrl: lambda.FunctionUrl | undefined;

  /** The function behind it. */
  readonly function: lambda.Function;

  /** The function's log group. */
  readonly logGroup: logs.ILogGroup;

  /** The function's role. */
  readonly role: iam.Role;

  /** What watches it, by the names of the thresholds. */
  readonly alarms: { readonly [K in keyof EndpointAlarmThresholds]?: cloudwatch.Alarm };

  constructor(scope: Construct, id: string, props: IdempotentEndpointProps) {
    super(scope, id);
    const { authorization = EndpointAuthorization.iam(), functionUrl = false } = props;
    const path = this.checkPath(props);
    this.checkAuthorization(props, authorization);

    const handler = new KitFunction(this, 'Handler', {
      ...props,
      bundled: bundledFunctions.charge,
      description: props.description ?? `POST ${path}, once per Idempotency-Key`,
      // The function refuses what the fallback route, or a function URL, brings it beside this.
      derivedEnvironment: { SAFEWRITES_ROUTE: `POST ${path}` },
      defaultTimeout: Duration.seconds(10),
      ...(functionUrl
        ? {}
        : {
            longestTimeout: {
              seconds: 29,
              why: 'the HTTP API gives up after 30 s, and the caller would not learn what the function did',
            },
          }),
      // One transaction of puts and checks writes effect, record and event; a stored refusal is a put of its own.
      defaultActions: { actions: ['PutItem'], transactWrite: ['ConditionCheckItem'] },
      kitKeys: [kitKeys.idempotency, kitKeys.outbox],
    });
    this.function = handler.function;
    this.logGroup = handler.logGroup;
    this.role = handler.role;
    const alarms = new AlarmMaker<keyof EndpointAlarmThresholds>(this, props, props.alarmThresholds ?? {});
    this.alarms = alarms.made;
    addFunctionAlarms(alarms, this.function, `the endpoint ${path}`);
    const serverErrors = (metric: cloudwatch.IMetric) =>
      alarms.add('serverErrors', {
        metric,
        threshold: 1,
        description: `The endpoint ${path} answers with 500 or 503. Runbook: Server errors.`,
      });

    if (functionUrl) {
      this.functionUrl = this.addUrl(authorization);
      this.url = this.functionUrl.url;
      serverErrors(lambdaMetric(this.function, 'Url5xxCount'));
      return;
    }
    const isNew = props.existingApi === undefined;
    const api: apigateway.IHttpApi = props.existingApi ?? this.createApi(props);
    this.api = api;
    const domain = props.apiProps?.defaultDomainMapping;
    if (isNew && props.apiProps?.createDefaultStage !== false) {
      const throttle = this.checkThrottle(props.throttle ?? { rateLimit: 1000, burstLimit: 1000 });
      this.accessLogGroup = new logs.LogGroup(this, 'AccessLogs', {
        retention: props.logRetention ?? logs.RetentionDays.ONE_MONTH,
        removalPolicy: props.logRemovalPolicy ?? RemovalPolicy.RETAIN,
      });
      this.stage = new apigateway.HttpStage(this, 'Stage', {
        httpApi: api,
        autoDeploy: true,
        ...(domain === undefined ? {} : { domainMapping: domain }),
        throttle,
        accessLogSettings: {
          destination: new apigateway.LogGroupLogDestination(this.accessLogGroup),
          format: accessLogFormat,
        },
      });
    } else if (props.throttle !== undefined) {
      refuse(this, 'throttle', 'is about the stage of a new API: give it to the stage of yours');
    }
    const route = (routeId: string, routeKey: apigateway.HttpRouteKey) => {
      const authorizer = authorization.routeAuthorizer(this, api);
      const created = new apigateway.HttpRoute(this, routeId, {
        httpApi: api,
        routeKey,
        integration,
        ...(authorizer === undefined ? {} : { authorizer }),
        ...(authorization.scopes.length === 0 ? {} : { authorizationScopes: authorization.scopes }),
      });
      if (authorization.kind === 'none') {
        acknowledge(created, {
          'AwsSolutions-APIG4': `Open by decision; its handler's ${authorization.scopeFunction} says whose a key is.`,
        });
      }
      return created;
    };
    const integration = new HttpLambdaIntegration('Integration', this.function);
    this.route = route('Route', apigateway.HttpRouteKey.with(path, apigateway.HttpMethod.POST));
    // The gateway's own answer to another path or method is no problem document; the function's is. With an authorizer that
    // route would refuse the preflights of browsers, which the gateway answers itself where no route takes them.
    const refusesPreflights = props.apiProps?.corsPreflight !== undefined && authorization.kind !== 'none';
    if (isNew && !refusesPreflights) this.fallback = route('Fallback', apigateway.HttpRouteKey.DEFAULT);
    this.url = `${this.endpointOf(api, props)}${path}`;
    this.node.addValidation({ validate: () => this.routeProblems(path) });
    serverErrors(api.metricServerError({ statistic: cloudwatch.Stats.SUM, period: alarmPeriod }));
  }

  /** How many calls ended so in 5 minutes, or with `Duration` how long they took, in milliseconds. */
  metric(name: EndpointMetric, options: cloudwatch.MetricOptions = {}): cloudwatch.Metric {
    return kitMetric(this.function, name, options);
  }

  /** Allows to call the endpoint, where its authorization is IAM. */
  grantInvoke(grantee: iam.IGrantable): iam.Grant {
    return this.functionUrl === undefined ? this.route!.grantInvoke(grantee) : this.functionUrl.grantInvokeUrl(grantee);
  }

  private checkThrottle(throttle: apigateway.ThrottleSettings): apigateway.ThrottleSettings {
    for (const name of ['rateLimit', 'burstLimit'] as const) {
      const value = throttle[name];
      if (value === undefined || Token.isUnresolved(value)) continue;
      if (!Number.isSafeInteger(value) || value < 1)
        refuse(
          this,
          'throttle',
          `its ${name} must be a whole number from 1 on: to take nothing, leave the endpoint out`,
        );
    }
    return throttle;
  }

  private checkPath({ path = '/charges', code, entry }: IdempotentEndpointProps): string {
    literalText(this, 'path', path);
    if (!/^(\/([\w.~-]+|\{[\w.-]+\}))+$/.test(path))
      refuse(this, 'path', 'must begin with a slash and end without, for example /orders/{id}/payments');
    if (code === undefined && entry === undefined && path !== '/charges') {
      refuse(
        this,
        'path',
        'the function that the package ships serves /charges: leave the path out, or bring code of your own',
      );
    }
    return path;
  }

  private checkAuthorization(
    props: IdempotentEndpointProps,
    { kind, issuer, audience, scopeFunction }: EndpointAuthorization,
  ): void {
    const { functionUrl, existingApi, apiProps, throttle, code, entry } = props;
    refuseBoth(this, { existingApi, apiProps });
    if (functionUrl === true) {
      for (const [name, value] of Object.entries({ existingApi, apiProps, throttle })) {
        if (value !== undefined)
          refuse(this, name, 'is about an HTTP API, but functionUrl takes the calls: leave one of the two');
      }
      if (kind === 'jwt')
        refuse(
          this,
          'authorization',
          'a function URL checks no JWT: take the HTTP API, which does (functionUrl: false)',
        );
      const { region } = Stack.of(this);
      if (!Token.isUnresolved(region) && regionsWithoutFunctionUrls.has(region)) {
        refuse(this, 'functionUrl', `Lambda has no function URLs in ${region}: take the HTTP API (functionUrl: false)`);
      }
    }
    if (kind === 'jwt') {
      if (!Token.isUnresolved(issuer) && !/^https:\/\/\S+$/.test(issuer!))
        refuse(this, 'authorization', 'the issuer of JWTs must be an https address');
      if ((audience ?? []).length === 0)
        refuse(
          this,
          'authorization',
          "name the audience of the JWTs: without one, tokens for others' services would do",
        );
    }
    if (kind !== 'none') return;
    if ((scopeFunction ?? '').trim() === '')
      refuse(this, 'authorization', 'name the scope function of your handler, which says whose a key is');
    if (code === undefined && entry === undefined) {
      refuse(
        this,
        'authorization',
        'the function that the package ships has no scope function, so it must know its caller: take iam() or jwt(), or bring code of your own',
      );
    }
  }

  private createApi({ apiProps = {} }: IdempotentEndpointProps): apigateway.IHttpApi {
    // The domain is the stage's, which is made here.
    const { defaultDomainMapping: _, ...settings } = apiProps;
    return new apigateway.HttpApi(this, 'Api', {
      apiName: `${Stack.of(this).stackName}-${this.node.id}`,
      ...settings,
      createDefaultStage: false,
    }) as apigateway.IHttpApi;
  }

  /** What calls begin with: an imported API does not know its own, and a new one may be reached by its domain only. */
  private endpointOf(api: apigateway.IHttpApi, { existingApi, apiProps }: IdempotentEndpointProps): string {
    const { defaultDomainMapping, disableExecuteApiEndpoint } = apiProps ?? {};
    if (defaultDomainMapping !== undefined && this.stage !== undefined) return this.stage.domainUrl.replace(/\/$/, '');
    if (existingApi === undefined && disableExecuteApiEndpoint !== true) return api.apiEndpoint;
    const { apiId } = api;
    const { region, urlSuffix } = Stack.of(this);
    return `https://${apiId}.execute-api.${region}.${urlSuffix}`;
  }

  /** Another route of the same key would be refused at deploy. */
  private routeProblems(path: string): string[] {
    const own = this.route!.node.defaultChild as apigateway.CfnRoute;
    const same = this.node.root.node
      .findAll()
      .filter((found) => found instanceof apigateway.CfnRoute)
      .filter(({ apiId, routeKey }) => apiId === own.apiId && routeKey === own.routeKey);
    if (same.length < 2) return [];
    return [
      `path: POST ${path} is a route of that API already: take another (${same.map(({ node }) => node.path).join(', ')})`,
    ];
  }

  private addUrl({ kind }: EndpointAuthorization): lambda.FunctionUrl {
    const { AWS_IAM, NONE } = lambda.FunctionUrlAuthType;
    return this.function.addFunctionUrl({ authType: kind === 'iam' ? AWS_IAM : NONE });
  }
}
