import type { Resource, Value } from './cloudformation.js';
import { localAws, resolveText } from './cloudformation.js';
import { StartError } from './start-error.js';
import type { AppFunction, AppRoute, AppTable, SynthesizedApp } from './synthesized-app.js';

type Properties = Record<string, Value>;

const tableTypes = ['AWS::DynamoDB::GlobalTable', 'AWS::DynamoDB::Table'];

/** The tables, functions and routes of one stack's template. */
export function stackResources(
  stackName: string,
  resources: Readonly<Record<string, Resource>>,
  assetFolder: (key: string) => string,
): SynthesizedApp {
  const all = Object.entries(resources).map(([id, { Type, Properties }]) => ({
    id,
    type: Type,
    props: Properties ?? {},
  }));
  const names = new Map<string, { name: string; arn: string }>();
  const physicalName = (id: string, given: Value | undefined) =>
    typeof given === 'string' ? given : `${stackName}-${id}`;
  for (const { id, type, props } of all) {
    if (tableTypes.includes(type)) {
      const name = physicalName(id, props['TableName']);
      names.set(id, { name, arn: `arn:aws:dynamodb:${localAws.region}:${localAws.accountId}:table/${name}` });
    }
    if (type === 'AWS::Lambda::Function') {
      const name = physicalName(id, props['FunctionName']);
      names.set(id, { name, arn: `arn:aws:lambda:${localAws.region}:${localAws.accountId}:function:${name}` });
    }
    // What a Ref gives of them: a queue's URL, a bus's name, a topic's ARN.
    if (type === 'AWS::SQS::Queue') {
      const suffix = props['FifoQueue'] === true && typeof props['QueueName'] !== 'string' ? '.fifo' : '';
      const name = `${physicalName(id, props['QueueName'])}${suffix}`;
      names.set(id, {
        name: `https://sqs.${localAws.region}.amazonaws.com/${localAws.accountId}/${name}`,
        arn: `arn:aws:sqs:${localAws.region}:${localAws.accountId}:${name}`,
      });
    }
    if (type === 'AWS::Events::EventBus') {
      const name = physicalName(id, props['Name']);
      names.set(id, { name, arn: `arn:aws:events:${localAws.region}:${localAws.accountId}:event-bus/${name}` });
    }
    if (type === 'AWS::SNS::Topic') {
      const suffix = props['FifoTopic'] === true && typeof props['TopicName'] !== 'string' ? '.fifo' : '';
      const arn = `arn:aws:sns:${localAws.region}:${localAws.accountId}:${physicalName(id, props['TopicName'])}${suffix}`;
      names.set(id, { name: arn, arn });
    }
  }

  const ofType = (...types: string[]) => all.filter(({ type }) => types.includes(type));
  const tables = ofType(...tableTypes).map(({ id, props }) => table(names.get(id)!.name, props));

  const functions = ofType('AWS::Lambda::Function')
    .filter(({ props }) => text(props['Runtime']).startsWith('nodejs'))
    .map(({ id, props }): AppFunction => {
      const variables = ((props['Environment'] as Properties | undefined)?.['Variables'] ?? {}) as Properties;
      return {
        name: names.get(id)!.name,
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
    const target = names.get(integrations.get(referencedIn(props['Target'])) ?? '');
    if (target === undefined) throw new StartError(`The route ${routeKey} leads to no function of its stack.`);
    return { routeKey, function: target.name, iam: props['AuthorizationType'] === 'AWS_IAM' };
  });

  return { tables, functions, routes };
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
