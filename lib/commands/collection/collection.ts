import type { ConsumedCapacity, QueryCommandInput } from '@aws-sdk/client-dynamodb';
import type { AnyEntity } from '../entity/entity.js';
import { invalid } from '../errors/errors.js';
import { QueryCommand } from '../query/query.js';
import type { Page } from '../read/page.js';
import { readerOf, type Reader } from '../read/reader.js';
import type { SendOptions } from '../send/send-options.js';
import { tableModelOf, type Table } from '../table/table.js';
import type { Binding } from '../table/table-model.js';

/** An item of a collection, told apart by `_type`, the entity's name; it may be put back as it is. */
export type Row<Es extends readonly AnyEntity[]> = {
  [K in keyof Es]: { readonly _type: Es[K]['name'] } & Es[K]['~item'];
}[number];

/** Entities of one partition key template; another one is replaced by what is wrong with it. */
type OfOneTemplate<Es extends readonly AnyEntity[]> = {
  readonly [K in keyof Es]: Es[K]['~pt'] extends Es[0]['~pt'] ? Es[K] : 'has another partition key template';
};

/** Entities that share their partitions, read together. */
export interface Collection<Es extends readonly AnyEntity[]> {
  /** Query of one partition: all items of the collection's entities in it. */
  query(key: Es[0]['~pk']): CollectionQuery<Row<Es>, unknown>;
}

/**
 * Query over the entities of a collection, in the order of their sort keys. Cost: the read units of the whole
 * partition, items of other entities included, which are skipped: half a unit per 4 KB in all, one where consistent.
 *
 * `I` is the union of the rows, `O` what a page holds beside.
 */
export interface CollectionQuery<I, O> {
  /** Reads what was written last, at twice the cost. */
  consistent(): CollectionQuery<I, O>;
  /** From the greatest sort key down. */
  reverse(): CollectionQuery<I, O>;
  /** At most this many items in all; a page reads no more than these. */
  limit(items: number): CollectionQuery<I, O>;
  /** Goes on where a page of this query ended. */
  after(cursor: string | undefined): CollectionQuery<I, O>;
  returnCapacity(): CollectionQuery<I, O & { readonly consumedCapacity: ConsumedCapacity }>;
  /** Attempts of the SDK for each request, the first included. */
  maxAttempts(attempts: number): CollectionQuery<I, O>;
  /** One request's items. */
  page(options?: SendOptions): Promise<Page<I> & O>;
  /** All items, a page at a time as they are consumed. */
  items(options?: SendOptions): AsyncIterable<I>;
  /** All items, in memory: for partitions that are known to be small. */
  all(options?: SendOptions): Promise<I[]>;
  /** The first item, or undefined. */
  first(options?: SendOptions): Promise<I | undefined>;
  /** How many items there are by their stored types, without fetching them; the cost is that of reading them. */
  count(options?: SendOptions): Promise<number>;
  /** The SDK's input of the first request, instead of sending. */
  toRequest(): QueryCommandInput;
  /** The first request as it goes over the wire, instead of sending. */
  toRequestJson(): string;
}

const rowReader = (bindings: readonly Binding[]): Reader => {
  const readers = bindings.map(readerOf);
  return {
    name_: readers.map(({ name_: name }) => name).join(', '),
    types_: readers.flatMap(({ types_: types }) => types),
    owns_: (stored) => readers.some((reader) => reader.owns_(stored)),
    read_: (stored) => {
      // Only what one of them owns is read.
      const reader = readers.find((candidate) => candidate.owns_(stored)) as Reader;
      return { _type: reader.name_, ...(reader.read_(stored, undefined) as object) };
    },
  };
};

/** The run-time half of {@link Collection}. */
class CollectionModel {
  constructor(private readonly bindings_: readonly [Binding, ...Binding[]]) {}

  query(given: Record<string, unknown>): QueryCommand {
    if (typeof given !== 'object' || given === null) invalid('collection', 'expected an object with inputs of the key');
    const key = { ...given };
    const [first, ...others] = this.bindings_;
    const { pk } = first.entity_.model_;
    const inputs = new Set(pk.inputs_.map(({ name_: name }) => name));
    if (Object.keys(key).some((name) => !inputs.has(name))) {
      invalid('collection', 'expected inputs of the partition key only');
    }
    const partition = pk.of(key);
    // Of one template, but with another separator, escaping or kind of attribute.
    for (const { entity_: entity } of others) {
      if (entity.model_.pk.of(key) !== partition)
        invalid(entity.model_.name, 'makes another partition key of this input');
    }
    const source = {
      binding_: first,
      index_: undefined,
      given_: key,
      partition_: partition,
      reader_: rowReader(this.bindings_),
    };
    return new QueryCommand(source, { operator: 'none' });
  }
}

/**
 * Several entities of one partition key template, read with one query: an item collection. The rows are a union that
 * `_type` tells apart.
 *
 * @throws InvalidInputError for entities of different partition key templates, and one with an attribute `_type`
 * @example
 * const customer = collection(shop, [Customer, Order]);
 * let total = 0;
 * for await (const row of customer.query({ customer: 'alice' }).items()) {
 *   if (row._type === 'ORDER') total += row.total;
 * }
 */
export const collection = <const Es extends readonly [AnyEntity, ...AnyEntity[]]>(
  table: Table,
  entities: Es & OfOneTemplate<Es>,
): Collection<Es> => {
  const model = tableModelOf(table);
  if (!Array.isArray(entities)) invalid('collection', 'expected an array of entities');
  const bindings = entities.map((entity) => model.bind_(entity));
  const [first] = bindings;
  if (first === undefined) return invalid('collection', 'expected entities');
  for (const { entity_: entity } of bindings) {
    const { name, pk, attrs } = entity.model_;
    if (pk.text_ !== first.entity_.model_.pk.text_) {
      invalid(name, `has another partition key template than ${first.entity_.model_.name}: they share no partition`);
    }
    if (Object.hasOwn(attrs, '_type'))
      invalid(name, 'has an attribute _type, which tells the rows of a collection apart');
  }
  return new CollectionModel([first, ...bindings.slice(1)]) as unknown as Collection<Es>;
};
