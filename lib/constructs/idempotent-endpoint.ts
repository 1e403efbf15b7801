import { Stack } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { KitFunctionOptions } from './kit-function.js';
import { KitFunction } from './kit-function.js';
import type { SafeWritesTable } from './safe-writes-table.js';

/** Settings of an {@link IdempotentEndpoint}. */
export interface IdempotentEndpointProps extends KitFunctionOptions {
  /** Table that holds the effect and the answers to repeats. */
  readonly table: SafeWritesTable;

  /** An ES module bundle whose `index.mjs` exports `handler`. */
  readonly code: lambda.Code;

  /** Path under which the endpoint takes POST, for example `/charges`. */
  readonly path: string;

  /**
   * What the function does, shown in the console.
   *
   * @default - the method and the path
   */
  readonly description?: string;

  /**
   * Environment variables beside TABLE_NAME and SAFEWRITES_ROUTE.
   *
   * @default - none
   */
  readonly environment?: Record<string, string>;
}

/**
 * A function behind an HTTP API with IAM authorization, which answers a repeated `Idempotency-Key` with the first
 * call's answer.
 *
 * It may read, put and check items of the table, and nothing else; `table.grantActions` adds what your effect needs.
 *
 * @example
 * ```ts
 * import { App, Stack, aws_lambda as lambda } from 'aws-cdk-lib';
 * import { IdempotentEndpoint, SafeWritesTable } from 'safewrites/cdk';
 *
 * const stack = new Stack(new App(), 'Shop');
 * const table = new SafeWritesTable(stack, 'Table');
 * const refunds = new IdempotentEndpoint(stack, 'Refunds', {
 *   table,
 *   code: lambda.Code.fromAsset('dist/refunds'),
 *   path: '/refunds',
 * });
 * table.grantActions(refunds.role, 'UpdateItem');
 * ```
 */
export class IdempotentEndpoint extends Construct {
  /** The HTTP API. */
  readonly api: apigateway.HttpApi;

  /** The route that the endpoint serves. */
  readonly route: apigateway.HttpRoute;

  /** Whatever else is called, which the endpoint answers with 404 or 405. */
  readonly fallback: apigateway.HttpRoute;

  /** The function behind it. */
  readonly function: lambda.Function;

  /** The function's log group. */
  readonly logGroup: logs.LogGroup;

  /** The function's role. */
  readonly role: iam.Role;

  constructor(scope: Construct, id: string, props: IdempotentEndpointProps) {
    super(scope, id);
    const { table, code, path, description, environment, ...options } = props;
    const handler = new KitFunction(this, 'Handler', {
      ...options,
      code,
      description: description ?? `POST ${path}, once per Idempotency-Key`,
      // The function refuses what the fallback route brings it beside this.
      environment: { TABLE_NAME: table.table.tableName, SAFEWRITES_ROUTE: `POST ${path}`, ...environment },
    });
    this.function = handler.function;
    this.logGroup = handler.logGroup;
    this.role = handler.role;

    // One transaction of puts and checks writes effect, record and event; a stored refusal is a put of its own.
    table.grantTransactWrite(handler.role, 'ConditionCheckItem', 'PutItem');
    table.grantActions(handler.role, 'GetItem');

    this.api = new apigateway.HttpApi(this, 'Api', { apiName: `${Stack.of(this).stackName}-${id}` });
    const integration = new HttpLambdaIntegration('Integration', handler.function);
    const authorizer = new HttpIamAuthorizer();
    const [route] = this.api.addRoutes({ path, methods: [apigateway.HttpMethod.POST], integration, authorizer });
    this.route = route!;
    // The gateway's own answer to another path or method is no problem document; the function's is.
    this.fallback = new apigateway.HttpRoute(this, 'Fallback', {
      httpApi: this.api,
      routeKey: apigateway.HttpRouteKey.DEFAULT,
      integration,
      authorizer,
    });
  }
}
