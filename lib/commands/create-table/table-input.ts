import type {
  CreateTableCommandInput,
  GlobalSecondaryIndex,
  KeySchemaElement,
  Projection,
  StreamViewType,
} from '@aws-sdk/client-dynamodb';
import type { IndexNaming, Naming } from '../entity/compiled.js';
import type { TableModel } from '../table/table-model.js';

/** What an index holds beside the keys: everything, only keys, or these stored attributes. */
export type IndexProjection = 'all' | 'keys' | readonly string[];

/** What the clauses of a createTable say; replaced, never changed, so that forks share it. */
export interface CreateTableOptions {
  readonly ifNotExists?: boolean;
  readonly waitUntilActive?: boolean;
  readonly timeToLive?: boolean;
  readonly stream?: StreamViewType;
  readonly projections: Readonly<Record<string, IndexProjection>>;
}

const keySchema = ({ pk, sk }: IndexNaming): KeySchemaElement[] => [
  { AttributeName: pk, KeyType: 'HASH' },
  ...(sk === undefined ? [] : [{ AttributeName: sk, KeyType: 'RANGE' as const }]),
];

/** The type attribute comes along, since a read tells entities apart by it. */
const projectionOf = (projection: IndexProjection, { type }: Naming): Projection => {
  if (projection === 'all') return { ProjectionType: 'ALL' };
  if (projection === 'keys') return { ProjectionType: 'KEYS_ONLY' };
  return { ProjectionType: 'INCLUDE', NonKeyAttributes: [...new Set([type, ...projection])] };
};

/** The body of a CreateTable. All keys are text; an index on the table's own partition key is a local one. */
export const tableInput = (
  { name_: name, naming_: naming }: Pick<TableModel, 'name_' | 'naming_'>,
  { stream, projections }: CreateTableOptions,
): CreateTableCommandInput => {
  const local: GlobalSecondaryIndex[] = [];
  const global: GlobalSecondaryIndex[] = [];
  const keys = new Set([naming.pk, naming.sk]);
  for (const [IndexName, names] of Object.entries(naming.indexes)) {
    keys.add(names.pk).add(names.sk);
    (names.pk === naming.pk ? local : global).push({
      IndexName,
      KeySchema: keySchema(names),
      Projection: projectionOf(projections[IndexName] ?? 'all', naming),
    });
  }
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: keySchema(naming),
    AttributeDefinitions: [...keys].flatMap((AttributeName) =>
      AttributeName === undefined ? [] : [{ AttributeName, AttributeType: 'S' as const }],
    ),
    ...(local.length > 0 && { LocalSecondaryIndexes: local }),
    ...(global.length > 0 && { GlobalSecondaryIndexes: global }),
    ...(stream !== undefined && { StreamSpecification: { StreamEnabled: true, StreamViewType: stream } }),
  };
};
