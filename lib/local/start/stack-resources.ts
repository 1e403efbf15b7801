import type { EventPattern } from '../sources/mapping/event-pattern.js';
import type { Resource, ResourceNames, Value } from './cloudformation.js';
import { localAws, resolveText } from './cloudformation.js';
import { StartError } from './start-error.js';
import type {
  AppFunction,
  AppMapping,
  AppQueue,
  AppRoute,
  AppRule,
  AppTable,
  SynthesizedApp,
} from './synthesized-app.js';

type Properties = Record<string, Value>;

const tableTypes = ['AWS::DynamoDB::GlobalTable', 'AWS::DynamoDB::Table'];

/** What the names of a stack's resources depend on. */
export interface StackSurroundings {
  readonly assetFolder: (key: string) => string;
  readonly queueUrl: (name: string) => string;
}

/** What of one stack's template runs here. */
export function stackResources(
  stackName: string,
  resources: Readonly<Record<string, Resource>>,
  { assetFolder, queueUrl }: StackSurroundings,
): SynthesizedApp {
  const all = Object.entries(resources).map(([id, { Type, Properties }]) => ({
    id,
    type: Type,
    props: Properties ?? {},
  }));
  const named = new Map(
    all.flatMap(({ id, type, props }) => {
      const name = physicalName(stackName, id, type, props);
      return name === undefined ? [] : [[id, name] as const];
    }),
  );
  const names = new Map<string, ResourceNames>();
  for (const { id, type } of all) {
    const name = named.get(id);
    if (name !== undefined) names.set(id, resourceNames(type, name, queueUrl));
  }

  const ofType = (...types: string[]) => all.filter(({ type }) => types.includes(type));
  const tables = ofType(...tableTypes).map(({ id, props }) => table(named.get(id)!, props));

  const functions = ofType('AWS::Lambda::Function')
    .filter(({ props }) => text(props['Runtime']).startsWith('nodejs'))
    .map(({ id, props }): AppFunction => {
      const variables = ((props['Environment'] as Properties | undefined)?.['Variables'] ?? {}) as Properties;
      return {
        name: named.get(id)!,
        folder: assetFolder(text((props['Code'] as Properties)['S3Key'])),
        handler: text(props['Handler']),
        timeoutSeconds: Number(props['Timeout'] ?? 3),
        memorySize: Number(props['MemorySize'] ?? 128),
        environment: Object.fromEntries(
          Object.entries(variables).map(([name, value]) => [name, resolveText(value, names)]),
        ),
      };
    });

  const integrations = new Map(
    ofType('AWS::ApiGatewayV2::Integration').map(({ id, props }) => [id, integrationFunction(props['IntegrationUri'])]),
  );
  const routes = ofType('AWS::ApiGatewayV2::Route').map(({ props }): AppRoute => {
    const routeKey = text(props['RouteKey']);
    const target = named.get(integrations.get(referencedIn(props['Target'])) ?? '');
    if (target === undefined) throw new StartError(`The route ${routeKey} leads to no function of its stack.`);
    return { routeKey, function: target, iam: props['AuthorizationType'] === 'AWS_IAM' };
  });

  const queues = ofType('AWS::SQS::Queue').map(({ id, props }) => queue(named.get(id)!, props, names));
  const buses = ofType('AWS::Events::EventBus').map(({ id }) => named.get(id)!);
  const enabled = (value: Value | undefined) => value !== false && value !== 'DISABLED';
  const mappings = ofType('AWS::Lambda::EventSourceMapping')
    .filter(({ props }) => enabled(props['Enabled']))
    .map(({ props }) => mapping(props, names));
  const rules = ofType('AWS::Events::Rule')
    .filter(({ props }) => enabled(props['State']))
    .map(({ id, props }) => rule(names.get(id)!.attributes['Arn']!, props, names));
  return { tables, functions, routes, queues, buses, mappings, rules };
}

/** The given name, or one from the resource's id, without the hash that CDK puts behind those of queues. */
function physicalName(stackName: string, id: string, type: string, props: Properties): string | undefined {
  const given = (property: string) => (typeof props[property] === 'string' ? props[property] : undefined);
  switch (type) {
    case 'AWS::DynamoDB::GlobalTable':
    case 'AWS::DynamoDB::Table':
      return given('TableName') ?? `${stackName}-${id}`;
    case 'AWS::Lambda::Function':
      return given('FunctionName') ?? `${stackName}-${id}`;
    case 'AWS::SQS::Queue':
      return given('QueueName') ?? `${id.replace(/[0-9A-F]{8}$/, '')}${props['FifoQueue'] === true ? '.fifo' : ''}`;
    case 'AWS::Events::EventBus':
    case 'AWS::Events::Rule':
      return given('Name') ?? `${stackName}-${id}`;
    default:
      return undefined;
  }
}

function resourceNames(type: string, name: string, queueUrl: (name: string) => string): ResourceNames {
  const arn = (service: string, resource: string) =>
    `arn:aws:${service}:${localAws.region}:${localAws.accountId}:${resource}`;
  switch (type) {
    case 'AWS::Lambda::Function':
      return { ref: name, attributes: { Arn: arn('lambda', `function:${name}`) } };
    case 'AWS::SQS::Queue':
      return { ref: queueUrl(name), attributes: { Arn: arn('sqs', name), QueueName: name, QueueUrl: queueUrl(name) } };
    case 'AWS::Events::EventBus':
      return { ref: name, attributes: { Arn: arn('events', `event-bus/${name}`), Name: name } };
    case 'AWS::Events::Rule':
      return { ref: name, attributes: { Arn: arn('events', `rule/${name}`) } };
    default: {
      const tableArn = arn('dynamodb', `table/${name}`);
      return { ref: name, attributes: { Arn: tableArn, StreamArn: `${tableArn}/stream/local` } };
    }
  }
}

function queue(name: string, props: Properties, names: ReadonlyMap<string, ResourceNames>): AppQueue {
  const attributes: Record<string, string> = {};
  for (const [property, value] of Object.entries(props)) {
    if (property === 'RedrivePolicy') {
      const { deadLetterTargetArn, maxReceiveCount } = value as Properties;
      attributes[property] = JSON.stringify({
        deadLetterTargetArn: resolveText(deadLetterTargetArn, names),
        maxReceiveCount: Number(maxReceiveCount),
      });
    } else if (typeof value !== 'object') attributes[property] = String(value);
  }
  return { name, attributes };
}

function mapping(props: Properties, names: ReadonlyMap<string, ResourceNames>): AppMapping {
  const member = (value: Value | undefined, name: string): Value | undefined =>
    (value as Properties | undefined)?.[name];
  const resolved = (value: Value | undefined) => (value === undefined ? undefined : resolveText(value, names));
  const filters = (member(props['FilterCriteria'], 'Filters') ?? []) as { Pattern: string }[];
  const kafka = props['AmazonManagedKafkaEventSourceConfig'] ?? props['SelfManagedKafkaEventSourceConfig'];
  const functionName = resolveText(props['FunctionName'], names);
  return {
    function: functionName.split(':').at(-1)!,
    sourceArn: props['SelfManagedEventSource'] === undefined ? resolved(props['EventSourceArn']) : undefined,
    topic: (props['Topics'] as string[] | undefined)?.[0],
    consumerGroupId: resolved(member(kafka, 'ConsumerGroupId')),
    filters: filters.map(({ Pattern }) => JSON.parse(Pattern) as EventPattern),
    onFailureArn: resolved(member(member(props['DestinationConfig'], 'OnFailure'), 'Destination')),
    numbers: Object.fromEntries(
      [...Object.entries(props), ...Object.entries((props['ScalingConfig'] ?? {}) as Properties)].filter(
        (entry): entry is [string, number] => typeof entry[1] === 'number',
      ),
    ),
    startingPosition: props['StartingPosition'] as 'TRIM_HORIZON' | 'LATEST' | undefined,
    bisectBatchOnFunctionError: props['BisectBatchOnFunctionError'] === true,
    reportBatchItemFailures:
      Array.isArray(props['FunctionResponseTypes']) &&
      props['FunctionResponseTypes'].includes('ReportBatchItemFailures'),
  };
}

function rule(arn: string, props: Properties, names: ReadonlyMap<string, ResourceNames>): AppRule {
  const targets = (props['Targets'] ?? []) as Properties[];
  return {
    arn,
    bus: props['EventBusName'] === undefined ? 'default' : resolveText(props['EventBusName'], names).split('/').at(-1)!,
    scheduleExpression: props['ScheduleExpression'] === undefined ? undefined : text(props['ScheduleExpression']),
    pattern: props['EventPattern'] as EventPattern | undefined,
    targets: targets.map(({ Arn, Input, SqsParameters }) => ({
      arn: resolveText(Arn, names),
      input: typeof Input === 'string' ? (JSON.parse(Input) as object) : undefined,
      groupId: (SqsParameters as { MessageGroupId?: string } | undefined)?.MessageGroupId,
    })),
  };
}

const text = (value: Value | undefined): string => (typeof value === 'string' ? value : '');

function table(name: string, props: Properties): AppTable {
  const stream = props['StreamSpecification'] as { StreamViewType?: AppTable['streamViewType'] } | undefined;
  const timeToLive = props['TimeToLiveSpecification'] as { AttributeName?: string; Enabled?: boolean } | undefined;
  return {
    name,
    keySchema: props['KeySchema'] as unknown as AppTable['keySchema'],
    attributeDefinitions: props['AttributeDefinitions'] as unknown as AppTable['attributeDefinitions'],
    globalSecondaryIndexes: (props['GlobalSecondaryIndexes'] ?? []) as Properties[],
    streamViewType: stream?.StreamViewType,
    timeToLiveAttribute: timeToLive?.Enabled === true ? timeToLive.AttributeName : undefined,
  };
}

/** `{ "Fn::GetAtt": [function, "Arn"] }`. */
function integrationFunction(uri: Value | undefined): string {
  const attribute = (uri as { 'Fn::GetAtt'?: string[] } | undefined)?.['Fn::GetAtt'];
  return attribute?.[0] ?? '';
}

/** The id in `{ "Fn::Join": ["", ["integrations/", { "Ref": id }]] }`. */
function referencedIn(target: Value | undefined): string {
  const parts =
    (target as { 'Fn::Join'?: [string, (string | { Ref?: string })[]] } | undefined)?.['Fn::Join']?.[1] ?? [];
  return parts.map((part) => (typeof part === 'string' ? undefined : part.Ref)).find((id) => id !== undefined) ?? '';
}
