import type { CreateTableCommandInput, KeySchemaElement, Projection, TableDescription } from '@aws-sdk/client-dynamodb';

interface Index {
  readonly IndexName?: string | undefined;
  readonly KeySchema?: readonly KeySchemaElement[] | undefined;
  readonly Projection?: Projection | undefined;
}

const keysText = (keys: readonly KeySchemaElement[] | undefined): string =>
  [...(keys ?? [])]
    .sort((a, b) => (a.KeyType ?? '').localeCompare(b.KeyType ?? ''))
    .map(({ AttributeName }) => AttributeName)
    .join(' and ');

const projectionText = ({ ProjectionType, NonKeyAttributes = [] }: Projection = {}): string =>
  ProjectionType === 'INCLUDE'
    ? `the keys and ${[...NonKeyAttributes].sort().join(', ')}`
    : ProjectionType === 'KEYS_ONLY'
      ? 'the keys only'
      : 'everything';

const indexDrift = (kind: string, wanted: readonly Index[] = [], found: readonly Index[] = []): string[] => {
  const byName = new Map(found.map((index) => [index.IndexName, index]));
  const sentences = wanted.flatMap(({ IndexName: name = '', KeySchema, Projection }) => {
    const index = byName.get(name);
    if (index === undefined) return [`The ${kind} index ${name} is missing.`];
    byName.delete(name);
    return [
      ...differs(`The keys of the index ${name} are`, keysText(KeySchema), keysText(index.KeySchema)),
      ...differs(`The index ${name} holds`, projectionText(Projection), projectionText(index.Projection)),
    ];
  });
  return [...sentences, ...[...byName.keys()].map((name) => `The ${kind} index ${name ?? ''} is not one of table().`)];
};

const differs = (what: string, wanted: string, found: string): string[] =>
  wanted === found ? [] : [`${what} ${found}, not ${wanted}.`];

/** What an existing table differs in from what would be created, a sentence each. */
export const driftOf = (wanted: CreateTableCommandInput, found: TableDescription): string[] => {
  const types = new Map(found.AttributeDefinitions?.map((key) => [key.AttributeName, key.AttributeType]));
  const stream = found.StreamSpecification;
  const view = wanted.StreamSpecification?.StreamViewType;
  return [
    ...differs('The keys of the table are', keysText(wanted.KeySchema), keysText(found.KeySchema)),
    ...(wanted.AttributeDefinitions ?? []).flatMap(({ AttributeName: name, AttributeType: type }) => {
      const other = types.get(name);
      return other === undefined || other === type
        ? []
        : [`The key attribute ${name ?? ''} is of type ${other}, not ${type ?? ''}.`];
    }),
    ...indexDrift('global', wanted.GlobalSecondaryIndexes, found.GlobalSecondaryIndexes),
    ...indexDrift('local', wanted.LocalSecondaryIndexes, found.LocalSecondaryIndexes),
    // A stream that nobody asked for is no difference: somebody else reads it.
    ...(view === undefined
      ? []
      : stream?.StreamEnabled === true
        ? differs('The stream shows', view, stream.StreamViewType ?? '')
        : [`The stream is off; it should show ${view}.`]),
  ];
};
