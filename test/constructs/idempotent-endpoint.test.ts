import { App, Duration, RemovalPolicy, Stack, Token } from 'aws-cdk-lib';
import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import type { IdempotentEndpointProps } from '../../lib/constructs/index.js';
import { EndpointAuthorization, IdempotentEndpoint, SafeWritesTable } from '../../lib/constructs/index.js';
import { allowedIn, anyCode, inTransactionsOnly, ownLogsAndTraces, templateOf } from './synth.js';

const endpoint = (props: Partial<IdempotentEndpointProps> = {}, region?: string) =>
  templateOf(
    (stack) =>
      new IdempotentEndpoint(stack, 'Charge', {
        table: new SafeWritesTable(stack, 'Table'),
        code: anyCode(),
        ...props,
      }),
    region === undefined ? {} : { env: { region } },
  );

const tableRef = { Ref: Match.stringLikeRegexp('^Table') };

describe('IdempotentEndpoint', () => {
  it('is a Node 24 function on ARM with source maps, JSON logs, tracing and a timeout below that of the API', () => {
    endpoint().hasResourceProperties('AWS::Lambda::Function', {
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      MemorySize: 1024,
      Timeout: 10,
      Environment: {
        Variables: {
          TABLE_NAME: tableRef,
          SAFEWRITES_ROUTE: 'POST /charges',
          NODE_OPTIONS: '--enable-source-maps',
        },
      },
      LoggingConfig: { LogFormat: 'JSON', LogGroup: { Ref: Match.stringLikeRegexp('Logs') } },
      TracingConfig: { Mode: 'Active' },
    });
  });

  it('keeps its logs and the access logs for a month in groups of their own', () => {
    const template = endpoint();
    template.resourceCountIs('AWS::Logs::LogGroup', 2);
    template.allResources('AWS::Logs::LogGroup', { Properties: { RetentionInDays: 30 }, DeletionPolicy: 'Retain' });
  });

  it('takes other settings, and environment variables beside its own', () => {
    const template = endpoint({
      description: 'A charge',
      environment: { REGION_CODE: 'eu' },
      memorySize: 512,
      timeout: Duration.seconds(5),
      tracing: lambda.Tracing.DISABLED,
      reservedConcurrentExecutions: 20,
      runtime: lambda.Runtime.NODEJS_22_X,
      logRetention: logs.RetentionDays.ONE_WEEK,
      logRemovalPolicy: RemovalPolicy.DESTROY,
    });
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: 'A charge',
      MemorySize: 512,
      Timeout: 5,
      Runtime: 'nodejs22.x',
      ReservedConcurrentExecutions: 20,
      Environment: { Variables: { TABLE_NAME: tableRef, REGION_CODE: 'eu' } },
      TracingConfig: Match.absent(),
    });
    template.allResources('AWS::Logs::LogGroup', { Properties: { RetentionInDays: 7 }, DeletionPolicy: 'Delete' });
  });

  it('logs to a group that is there already', () => {
    const template = templateOf((stack) => {
      const existingLogGroup = new logs.LogGroup(stack, 'Mine');
      const table = new SafeWritesTable(stack, 'Table');
      new IdempotentEndpoint(stack, 'Charge', { table, code: anyCode(), existingLogGroup, functionUrl: true });
    });
    template.resourceCountIs('AWS::Logs::LogGroup', 1);
    template.hasResourceProperties('AWS::Lambda::Function', {
      LoggingConfig: { LogGroup: { Ref: Match.stringLikeRegexp('^Mine') } },
    });
  });

  it('is reached under IAM authorization, by POST and by whatever it has to refuse', () => {
    const template = endpoint();
    template.resourceCountIs('AWS::ApiGatewayV2::Route', 2);
    for (const RouteKey of ['POST /charges', '$default']) {
      template.hasResourceProperties('AWS::ApiGatewayV2::Route', { RouteKey, AuthorizationType: 'AWS_IAM' });
    }
    template.resourceCountIs('AWS::ApiGatewayV2::Integration', 1);
    template.hasResourceProperties('AWS::ApiGatewayV2::Integration', { PayloadFormatVersion: '2.0' });
    template.hasResourceProperties('AWS::ApiGatewayV2::Api', { ProtocolType: 'HTTP', Name: 'Test-Charge' });
  });

  it('logs accesses as JSON, without what a caller sent, and throttles', () => {
    const template = endpoint();
    template.resourceCountIs('AWS::ApiGatewayV2::Stage', 1);
    template.hasResourceProperties('AWS::ApiGatewayV2::Stage', {
      StageName: '$default',
      AutoDeploy: true,
      AccessLogSettings: { DestinationArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('^ChargeAccessLogs'), 'Arn'] } },
      DefaultRouteSettings: { ThrottlingRateLimit: 1000, ThrottlingBurstLimit: 1000 },
    });
    const [stage] = Object.values(template.findResources('AWS::ApiGatewayV2::Stage')) as {
      Properties: { AccessLogSettings: { Format: string } };
    }[];
    const format = JSON.parse(stage!.Properties.AccessLogSettings.Format) as Record<string, string>;
    expect(Object.keys(format)).toContain('requestId');
    expect(Object.values(format).join()).not.toMatch(/header|querystring|\$context\.path\b/i);
  });

  it('may put items of its table, and check them in transactions', () => {
    const template = endpoint();
    expect(allowedIn(template)).toEqual([
      `dynamodb:ConditionCheckItem on Table.Arn ${inTransactionsOnly}`,
      'dynamodb:PutItem on Table.Arn',
      ...ownLogsAndTraces('ChargeHandler'),
    ]);
    template.hasResourceProperties('AWS::IAM::Role', { ManagedPolicyArns: Match.absent() });
  });

  it('may do what a handler of yours is said to do, in transactions only where that is said', () => {
    const template = endpoint({
      tableActions: ['GetItem', 'PutItem'],
      transactWriteActions: ['PutItem', 'UpdateItem'],
      tracing: lambda.Tracing.DISABLED,
    });
    expect(allowedIn(template)).toEqual([
      'dynamodb:GetItem,dynamodb:PutItem on Table.Arn',
      `dynamodb:UpdateItem on Table.Arn ${inTransactionsOnly}`,
      'logs:CreateLogStream,logs:PutLogEvents on ChargeHandlerLogs.Arn',
    ]);
  });

  it('takes JSON Web Tokens of an issuer', () => {
    const authorization = EndpointAuthorization.jwt({
      issuer: 'https://login.test/',
      audience: ['shop'],
      scopes: ['pay'],
    });
    const template = endpoint({ authorization });
    template.resourceCountIs('AWS::ApiGatewayV2::Authorizer', 1);
    template.hasResourceProperties('AWS::ApiGatewayV2::Authorizer', {
      AuthorizerType: 'JWT',
      JwtConfiguration: { Issuer: 'https://login.test/', Audience: ['shop'] },
    });
    template.allResourcesProperties('AWS::ApiGatewayV2::Route', {
      AuthorizationType: 'JWT',
      AuthorizationScopes: ['pay'],
    });
  });

  it('takes anyone where a scope function says whose a key is', () => {
    const template = endpoint({ authorization: EndpointAuthorization.none({ scopeFunction: 'cartOf' }) });
    template.allResourcesProperties('AWS::ApiGatewayV2::Route', { AuthorizationType: 'NONE' });
  });

  it.each([
    { authorization: EndpointAuthorization.iam(), type: 'AWS_IAM' },
    { authorization: EndpointAuthorization.none({ scopeFunction: 'cartOf' }), type: 'NONE' },
  ])('is reached by a function URL under $type', ({ authorization, type }) => {
    const template = endpoint({ functionUrl: true, authorization, timeout: Duration.seconds(60) });
    template.hasResourceProperties('AWS::Lambda::Url', { AuthType: type });
    template.resourceCountIs('AWS::ApiGatewayV2::Api', 0);
    template.hasResourceProperties('AWS::Lambda::Function', { Timeout: 60 });
  });

  it('adds its route to an API that is there already, and nothing to its stages', () => {
    const template = templateOf((stack) => {
      const existingApi = new apigateway.HttpApi(stack, 'Mine') as apigateway.IHttpApi;
      const table = new SafeWritesTable(stack, 'Table');
      const made = new IdempotentEndpoint(stack, 'Charge', { table, code: anyCode(), path: '/refunds', existingApi });
      expect([made.stage, made.accessLogGroup, made.fallback]).toEqual([undefined, undefined, undefined]);
    });
    template.resourceCountIs('AWS::ApiGatewayV2::Api', 1);
    template.resourceCountIs('AWS::ApiGatewayV2::Stage', 1);
    template.resourceCountIs('AWS::ApiGatewayV2::Route', 1);
    template.hasResourceProperties('AWS::ApiGatewayV2::Route', { RouteKey: 'POST /refunds' });
  });

  it('adds its route to an imported API, of which only the id is known', () => {
    const template = templateOf(
      (stack) => {
        const existingApi = apigateway.HttpApi.fromHttpApiAttributes(stack, 'Mine', { httpApiId: 'a1b2' });
        const table = new SafeWritesTable(stack, 'Table');
        const { url } = new IdempotentEndpoint(stack, 'Charge', { table, code: anyCode(), existingApi });
        expect(stack.resolve(url)).toEqual({
          'Fn::Join': ['', ['https://a1b2.execute-api.eu-west-1.', { Ref: 'AWS::URLSuffix' }, '/charges']],
        });
      },
      { env: { region: 'eu-west-1' } },
    );
    template.hasResourceProperties('AWS::ApiGatewayV2::Route', { ApiId: 'a1b2', RouteKey: 'POST /charges' });
  });

  it('takes further settings of the API, and leaves its stages to whoever says so', () => {
    const template = endpoint({ apiProps: { apiName: 'shop', createDefaultStage: false } });
    template.hasResourceProperties('AWS::ApiGatewayV2::Api', { Name: 'shop' });
    template.resourceCountIs('AWS::ApiGatewayV2::Stage', 0);
  });

  it.each([{ functionUrl: false }, { functionUrl: true }])(
    'allows others to call it (function URL: $functionUrl)',
    (props) => {
      const template = templateOf((stack) => {
        const table = new SafeWritesTable(stack, 'Table');
        const caller = new iam.Role(stack, 'Caller', { assumedBy: new iam.AccountRootPrincipal() });
        new IdempotentEndpoint(stack, 'Charge', { table, code: anyCode(), ...props }).grantInvoke(caller);
      });
      expect(allowedIn(template).join()).toMatch(
        props.functionUrl ? /lambda:InvokeFunctionUrl on ChargeHandlerFunction/ : /execute-api:Invoke on /,
      );
    },
  );

  const jwt = (options: { issuer?: string; audience?: string[] }) =>
    EndpointAuthorization.jwt({ issuer: 'https://login.test/', audience: ['shop'], ...options });
  const token = Token.asNumber({ Ref: 'Parameter' });
  const existingApi = () =>
    apigateway.HttpApi.fromHttpApiAttributes(new Stack(new App(), 'Other'), 'Api', { httpApiId: 'a' });

  it.each<[string, Partial<IdempotentEndpointProps>, string]>([
    [
      'a timeout that outlives the API',
      { timeout: Duration.seconds(30) },
      'timeout: is 30 s, but must be from 1 s to 29 s',
    ],
    ['a timeout of nothing', { timeout: Duration.seconds(0) }, 'timeout: is 0 s'],
    ['a timeout that Lambda does not have', { functionUrl: true, timeout: Duration.minutes(16) }, 'to 900 s'],
    ['a timeout that is not known', { timeout: Duration.seconds(token) }, 'timeout: is known only at deploy'],
    ['a path without slash', { path: 'charges' }, 'path: must begin with a slash'],
    ['a path that is not known', { path: Token.asString({ Ref: 'P' }) }, 'path: is known only at deploy'],
    [
      'another path with the shipped function',
      { code: undefined as never, path: '/a' },
      'path: the function that the package ships serves /charges',
    ],
    ['a runtime of another language', { runtime: lambda.Runtime.PYTHON_3_12 }, 'runtime: is python3.12'],
    ['an old runtime', { runtime: lambda.Runtime.NODEJS_20_X }, 'runtime: is nodejs20.x'],
    [
      'the runtime before, with the shipped function',
      { code: undefined as never, runtime: lambda.Runtime.NODEJS_22_X },
      'built for nodejs24.x',
    ],
    ['code and entry', { entry: 'src/handler.ts' }, 'code: is given together with entry'],
    ['bundling of nothing', { bundling: {} }, 'bundling: is about entry'],
    ['its own environment', { environment: { TABLE_NAME: 'x' } }, 'environment: TABLE_NAME is set by the construct'],
    [
      'its own route',
      { environment: { SAFEWRITES_ROUTE: 'x' } },
      'environment: SAFEWRITES_ROUTE is set by the construct',
    ],
    ['two APIs', { existingApi: existingApi(), apiProps: {} }, 'existingApi: is given together with apiProps'],
    [
      'throttling of an API that is there',
      { existingApi: existingApi(), throttle: {} },
      'throttle: is about the stage of a new API',
    ],
    ['a rate of nothing', { throttle: { rateLimit: 0 } }, 'throttle: its rateLimit must be a whole number from 1 on'],
    ['a rate that is no number', { throttle: { rateLimit: NaN, burstLimit: 1 } }, 'throttle: its rateLimit must be'],
    ['a burst below nothing', { throttle: { burstLimit: -5 } }, 'throttle: its burstLimit must be'],
    ['half a call at once', { throttle: { rateLimit: 5, burstLimit: 0.5 } }, 'throttle: its burstLimit must be'],
    ['a burst without end', { throttle: { burstLimit: Infinity } }, 'throttle: its burstLimit must be'],
    ['an API beside a function URL', { functionUrl: true, apiProps: {} }, 'apiProps: is about an HTTP API'],
    [
      'JWTs at a function URL',
      { functionUrl: true, authorization: jwt({}) },
      'authorization: a function URL checks no JWT',
    ],
    ['an issuer that is no address', { authorization: jwt({ issuer: 'me' }) }, 'authorization: the issuer'],
    ['JWTs for anyone', { authorization: jwt({ audience: [] }) }, 'authorization: name the audience'],
    [
      'anyone, without a scope function',
      { authorization: EndpointAuthorization.none({ scopeFunction: ' ' }) },
      'authorization: name the scope function',
    ],
    [
      'anyone, with the shipped function',
      { code: undefined as never, authorization: EndpointAuthorization.none({ scopeFunction: 'f' }) },
      'has no scope function',
    ],
    [
      'part of a call reserved',
      { reservedConcurrentExecutions: 0.5 },
      'reservedConcurrentExecutions: must be a whole number',
    ],
  ])('refuses %s', (_, props, message) => {
    expect(() => endpoint(props)).toThrow(message);
  });

  it('refuses a function URL in a Region that has none, and names the prop', () => {
    expect(() => endpoint({ functionUrl: true }, 'eu-south-2')).toThrow(
      'Charge: functionUrl: Lambda has no function URLs in eu-south-2',
    );
    expect(() => endpoint({ functionUrl: true }, 'eu-west-1')).not.toThrow();
  });

  it('refuses a log group together with settings of a new one', () => {
    const existingLogGroup = logs.LogGroup.fromLogGroupName(new Stack(new App(), 'Other'), 'Logs', 'logs');
    expect(() => endpoint({ existingLogGroup, logRetention: 7 })).toThrow(
      'existingLogGroup: is given together with logRetention',
    );
  });

  it('gives each API an authorizer of its own, whose name is its own, where endpoints share an authorization', () => {
    const template = templateOf((stack) => {
      const table = new SafeWritesTable(stack, 'Table');
      const authorization = EndpointAuthorization.jwt({ issuer: 'https://login.shop.test/', audience: ['shop'] });
      const api = new apigateway.HttpApi(stack, 'Api') as apigateway.IHttpApi;
      for (const id of ['A', 'B']) new IdempotentEndpoint(stack, id, { table, code: anyCode(), authorization });
      const shared = { table, code: anyCode(), existingApi: api };
      new IdempotentEndpoint(stack, 'C', { ...shared, path: '/c', authorization });
      new IdempotentEndpoint(stack, 'D', { ...shared, path: '/d', authorization });
      const other = EndpointAuthorization.jwt({ issuer: 'https://staff.shop.test/', audience: ['shop'] });
      new IdempotentEndpoint(stack, 'E', { ...shared, path: '/e', authorization: other });
    });
    type Properties = {
      readonly Name: string;
      readonly ApiId: { Ref: string };
      readonly AuthorizerId: { Ref: string };
    };
    type Found = Record<string, { Properties: Properties }>;
    const authorizers = template.findResources('AWS::ApiGatewayV2::Authorizer') as Found;
    expect(Object.keys(authorizers)).toHaveLength(4);
    const names = Object.values(authorizers).map(({ Properties }) => `${Properties.ApiId.Ref} ${Properties.Name}`);
    expect(new Set(names).size).toBe(4);
    for (const { Properties } of Object.values(template.findResources('AWS::ApiGatewayV2::Route') as Found)) {
      expect(authorizers[Properties.AuthorizerId.Ref]!.Properties.ApiId).toEqual(Properties.ApiId);
    }
  });

  it('leaves the preflights of browsers to the gateway, which an authorizer would refuse', () => {
    const corsPreflight = { allowOrigins: ['https://shop.test'] };
    const routes = (props: Partial<IdempotentEndpointProps>) =>
      Object.values(endpoint({ apiProps: { corsPreflight }, ...props }).findResources('AWS::ApiGatewayV2::Route'))
        .map(({ Properties }) => (Properties as { RouteKey: string }).RouteKey)
        .sort();
    expect(routes({})).toEqual(['POST /charges']);
    expect(routes({ authorization: EndpointAuthorization.none({ scopeFunction: 'cartOf' }) })).toEqual([
      '$default',
      'POST /charges',
    ]);
  });

  it('is reached by a domain of yours, and by nothing else if you say so', () => {
    const template = templateOf((stack) => {
      const domainName = apigateway.DomainName.fromDomainNameAttributes(stack, 'Domain', {
        name: 'api.shop.test',
        regionalDomainName: 'd.execute-api.eu-west-1.amazonaws.com',
        regionalHostedZoneId: 'Z1',
      });
      const table = new SafeWritesTable(stack, 'Table');
      const at = (id: string, apiProps: apigateway.HttpApiProps) =>
        new IdempotentEndpoint(stack, id, { table, code: anyCode(), apiProps }).url;
      const only = { disableExecuteApiEndpoint: true };
      expect(at('A', { ...only, defaultDomainMapping: { domainName } })).toBe('https://api.shop.test/charges');
      expect(at('B', { ...only, defaultDomainMapping: { domainName, mappingKey: 'v1' } })).toBe(
        'https://api.shop.test/v1/charges',
      );
      at('C', { ...only, createDefaultStage: false });
    });
    template.resourceCountIs('AWS::ApiGatewayV2::ApiMapping', 2);
  });

  it('refuses a second route of the same path', () => {
    expect(() =>
      templateOf((stack) => {
        const table = new SafeWritesTable(stack, 'Table');
        const existingApi = new apigateway.HttpApi(stack, 'Api') as apigateway.IHttpApi;
        for (const id of ['A', 'B']) new IdempotentEndpoint(stack, id, { table, code: anyCode(), existingApi });
      }),
    ).toThrow('path: POST /charges is a route of that API already');
  });

  it.each<[string, Partial<IdempotentEndpointProps>, string]>([
    ['a path with half a brace', { path: '/orders/{id' }, 'path: must begin with a slash'],
    ['no table', { table: undefined as never }, 'table: is missing'],
    [
      'a JWT for nobody',
      { authorization: EndpointAuthorization.jwt({ issuer: 'https://login.shop.test/' } as never) },
      'authorization: name the audience',
    ],
    [
      'a JWT of nobody',
      { authorization: EndpointAuthorization.jwt({ audience: ['shop'] } as never) },
      'authorization: the issuer of JWTs must be',
    ],
    [
      'an open one',
      { authorization: EndpointAuthorization.none({} as never) },
      'authorization: name the scope function',
    ],
    ['too little memory', { memorySize: 64 }, 'memorySize: must be a whole number from 128 to 10240'],
    ['a timeout of 1.5 s', { timeout: Duration.millis(1500) }, 'timeout: is 1.5 s, but must be whole seconds'],
    ['a variable that has no name', { environment: { 'a-b': '1' } }, 'environment: "a-b" can\'t be the name'],
    [
      'a runtime that is known at deploy',
      { runtime: new lambda.Runtime(Token.asString({ Ref: 'Runtime' })) },
      'runtime: is known only at deploy',
    ],
  ])('refuses %s, naming the prop', (_, props, message) => {
    expect(() => endpoint(props)).toThrow(message);
  });
});
