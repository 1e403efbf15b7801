/** A DynamoDB value as it travels on the wire: one key, the type; binary as base64 text. */
export interface WireValue {
  S?: string;
  N?: string;
  B?: string;
  BOOL?: boolean;
  NULL?: boolean;
  SS?: string[];
  NS?: string[];
  BS?: string[];
  L?: WireValue[];
  M?: Record<string, WireValue>;
}

/** An item or a key on the wire. Stored items are shared, never changed in place. */
export type WireItem = Record<string, WireValue>;

/** A request or response body: its shape is the operation's own. */
export type Body = Record<string, unknown>;

export interface KeySchemaElement {
  AttributeName: string;
  KeyType: 'HASH' | 'RANGE';
}

export interface IndexDescription {
  IndexName: string;
  KeySchema: KeySchemaElement[];
  Projection: { ProjectionType: 'ALL' | 'KEYS_ONLY' | 'INCLUDE'; NonKeyAttributes?: string[] };
  IndexArn?: string;
  IndexStatus?: string;
  IndexSizeBytes?: number;
  ItemCount?: number;
  ProvisionedThroughput?: Throughput;
}

export interface Throughput {
  ReadCapacityUnits: number;
  WriteCapacityUnits: number;
  NumberOfDecreasesToday?: number;
  LastIncreaseDateTime?: number;
  LastDecreaseDateTime?: number;
}

export interface StreamSpecification {
  StreamEnabled: boolean;
  StreamViewType?: 'KEYS_ONLY' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES';
}

/** A table as it is stored, which is also what DescribeTable answers. */
export interface TableDescription {
  TableName: string;
  TableArn: string;
  TableId: string;
  TableStatus: string;
  CreationDateTime: number;
  AttributeDefinitions: { AttributeName: string; AttributeType: 'S' | 'N' | 'B' }[];
  KeySchema: KeySchemaElement[];
  GlobalSecondaryIndexes?: IndexDescription[];
  LocalSecondaryIndexes?: IndexDescription[];
  ProvisionedThroughput?: Throughput;
  BillingModeSummary?: { BillingMode: string; LastUpdateToPayPerRequestDateTime?: number };
  TableThroughputModeSummary?: { TableThroughputMode: string; LastUpdateToPayPerRequestDateTime?: number };
  StreamSpecification?: StreamSpecification;
  LatestStreamArn?: string;
  LatestStreamLabel?: string;
  DeletionProtectionEnabled?: boolean;
  TableClassSummary?: { TableClass: string };
  SSEDescription?: Body;
  ItemCount?: number;
  TableSizeBytes?: number;
}

/** One item before and after a write. */
export interface ItemChange {
  table: TableDescription;
  key: string;
  before: WireItem | undefined;
  after: WireItem | undefined;
}
