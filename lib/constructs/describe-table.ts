import { Stack } from 'aws-cdk-lib/core';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';

/** What the template says of a table. */
export interface TableDescription {
  readonly partitionKey: string | undefined;
  readonly sortKey: string | undefined;
  /** `S`, `N` or `B`, by the names of the keys. */
  readonly keyTypes: Readonly<Record<string, string>>;
  readonly timeToLive: string | undefined;
  readonly streamViewType: dynamodb.StreamViewType | undefined;
  readonly replicas: number;
}

interface TableProperties {
  readonly attributeDefinitions?: readonly { readonly attributeName: string; readonly attributeType: string }[];
  readonly keySchema?: readonly { readonly attributeName: string; readonly keyType: string }[];
  readonly timeToLiveSpecification?: { readonly attributeName?: string; readonly enabled?: boolean };
  readonly streamSpecification?: { readonly streamViewType?: dynamodb.StreamViewType };
  readonly replicas?: readonly unknown[];
}

/** Reads a table of this app; undefined for one that is imported, of which no template tells. */
export function describeTable(table: dynamodb.ITable): TableDescription | undefined {
  const resource = table.node.defaultChild;
  if (!(resource instanceof dynamodb.CfnTable) && !(resource instanceof dynamodb.CfnGlobalTable)) return undefined;
  const { attributeDefinitions, keySchema, timeToLiveSpecification, streamSpecification } = resource;
  const replicas = resource instanceof dynamodb.CfnGlobalTable ? resource.replicas : undefined;
  const found = Stack.of(resource).resolve({
    attributeDefinitions,
    keySchema,
    timeToLiveSpecification,
    streamSpecification,
    replicas,
  }) as TableProperties;
  const key = (keyType: string) => found.keySchema?.find((element) => element.keyType === keyType)?.attributeName;
  const { attributeName, enabled } = found.timeToLiveSpecification ?? {};
  // The first replica is the table itself. The older resource makes its replicas by a custom resource beside it.
  const copies = (found.replicas?.length ?? 1) - 1;
  const custom = table.node.children.filter(({ node }) => node.id.startsWith('Replica')).length;
  const isKey = (name: string) => found.keySchema?.some(({ attributeName }) => attributeName === name) === true;
  const keys = (found.attributeDefinitions ?? []).filter(({ attributeName: name }) => isKey(name));
  return {
    keyTypes: Object.fromEntries(keys.map(({ attributeName: name, attributeType }) => [name, attributeType])),
    partitionKey: key('HASH'),
    sortKey: key('RANGE'),
    timeToLive: enabled === false ? undefined : attributeName,
    streamViewType: found.streamSpecification?.streamViewType,
    replicas: copies + custom,
  };
}
