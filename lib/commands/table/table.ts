import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { isFilledText } from '../attributes/text.js';
import { deleteItemOf, deleteOf, type Delete, type DeleteCommand, type UnversionedDelete } from '../delete/delete.js';
import type { AnyEntity, EntityIndex } from '../entity/entity.js';
import { hasBrand } from '../errors/brand.js';
import { invalid } from '../errors/errors.js';
import { GetCommand, type Get } from '../get/get.js';
import { putOf, type Put, type PutCommand, type VersionedPut } from '../put/put.js';
import { QueryCommand, type Query } from '../query/query.js';
import { updateOf, type UnversionedUpdate, type Update, type UpdateCommand } from '../update/update.js';
import type { Batchable } from '../write/step.js';
import type { HasVersion } from '../write/write-results.js';
import type { Naming } from '../entity/compiled.js';
import { TableModel, type Binding } from './table-model.js';

/** The key attributes of an index of the table. */
export interface TableIndex {
  /** @default the index's name followed by `pk` */
  readonly pk?: string;
  /** False for an index without sort key. @default the index's name followed by `sk` */
  readonly sk?: string | false;
}

/** What {@link table} takes. */
export interface TableOptions {
  readonly name: string;
  /** The caller's own client: its retries, time-outs and middleware apply. Never the DocumentClient. */
  readonly client: DynamoDBClient;
  /** @default 'pk' */
  readonly pk?: string;
  /** False for a table without sort key. @default 'sk' */
  readonly sk?: string | false;
  /** The attribute that holds the entity's name. @default '_type' */
  readonly type?: string;
  /** The time-to-live attribute. @default 'ttl' */
  readonly timeToLive?: string;
  /** Global and local secondary indexes, by name. */
  readonly indexes?: Readonly<Record<string, TableIndex>>;
}

/** A DynamoDB table that holds entities. */
export interface Table {
  readonly name: string;
  readonly client: DynamoDBClient;
  /**
   * Binds an entity, for its commands.
   * @throws InvalidInputError where its keys could be those of another entity of the table, it uses an index that the
   *   table lacks, or an attribute of it has the name of one that the library writes
   */
  of<E extends AnyEntity & { readonly '~version': true }>(entity: E): VersionedEntityTable<E>;
  of<E extends AnyEntity>(entity: E): EntityTable<E>;
}

interface Reads<E extends AnyEntity> {
  readonly '~e': E;
  /** GetItem by key. */
  get(key: E['~key']): Get<E, E['~item'], unknown>;
  /** Query by partition key and, from the left, any inputs of the sort key. */
  query(key: E['~pk'] & Partial<E['~key']>): Query<E, E['~item'], E['~key'], unknown>;
  /** Queries of one of the entity's indexes. */
  index<I extends keyof E['~indexes'] & string>(name: I): IndexTable<E, E['~indexes'][I]>;
}

/** Queries of an index; they are never strongly consistent on a global one. */
export interface IndexTable<E extends AnyEntity, X> {
  readonly '~x': E;
  query(
    key: X extends { readonly pk: infer P; readonly sk: infer S } ? P & Partial<S> : never,
  ): Query<E, E['~item'], X extends { readonly pk: infer P; readonly sk: infer S } ? P & S : never, unknown>;
}

/** The commands of an entity without version. */
export interface EntityTable<E extends AnyEntity> extends Reads<E> {
  /** PutItem: creates or replaces the whole item. */
  put(item: E['~input']): Put<E, unknown, unknown> & Batchable;
  /** A put that holds only where no item has the key (`attribute_not_exists`): a claim, in one word. */
  unique(item: E['~input']): Put<E, unknown, unknown>;
  /** UpdateItem: patches the item, or creates it. */
  update(key: E['~key']): Update<E, unknown, unknown>;
  /** DeleteItem by key. */
  delete(key: E['~key']): Delete<E, unknown, unknown> & Batchable;
  /** DeleteItem of an item that was read. */
  deleteItem(item: E['~item']): Delete<E, unknown, unknown>;
}

/** The commands of an entity with `version()`. */
export interface VersionedEntityTable<E extends AnyEntity> extends Reads<E> {
  /** PutItem, on condition that the item's version is the stored one; absent or 0: that no item has the key. */
  put(item: E['~input']): VersionedPut<E, HasVersion, unknown>;
  /** A put that holds only where no item has the key (`attribute_not_exists`). */
  unique(item: E['~input']): Put<E, HasVersion, unknown>;
  /** UpdateItem; can be sent only after `ifVersion(n)` or `ignoreVersion()`. */
  update(key: E['~key']): UnversionedUpdate<E, unknown, unknown>;
  /** DeleteItem by key; can be sent only after `ifVersion(n)` or `ignoreVersion()`. */
  delete(key: E['~key']): UnversionedDelete<E, unknown, unknown>;
  /** DeleteItem of an item that was read, on condition that its version is still the stored one. */
  deleteItem(item: E['~item']): Delete<E, unknown, unknown>;
}

const entityTableBrand = Symbol.for('safewrites.entityTable');
const tableBrand = Symbol.for('safewrites.table');

type Values = Record<string, unknown>;

/** The run-time half of {@link EntityTable}. */
class EntityTableModel {
  get [entityTableBrand](): 1 {
    return 1;
  }
  constructor(readonly binding_: Binding) {}

  get(key: Values): GetCommand {
    return new GetCommand(this.binding_, this.binding_.entity_.key_(key));
  }
  put(item: Values): PutCommand {
    return putOf(this.binding_, item);
  }
  unique(item: Values): PutCommand {
    return this.put(item).ifNotExists();
  }
  update(key: Values): UpdateCommand {
    return updateOf(this.binding_, key);
  }
  delete(key: Values): DeleteCommand {
    return deleteOf(this.binding_, key);
  }
  deleteItem(item: Values): DeleteCommand {
    return deleteItemOf(this.binding_, item);
  }
  query(key: Values): QueryCommand {
    return QueryCommand.of(this.binding_, undefined, key);
  }
  index(name: string): IndexTableModel {
    const { binding_: binding } = this;
    const index = binding.entity_.model_.indexes_.find((candidate) => candidate.name_ === name);
    if (!index) return invalid(binding.entity_.model_.name, 'has no index of the name that was given');
    return {
      [entityTableBrand]: 1,
      binding_: binding,
      on_: index,
      query: (key) => QueryCommand.of(binding, index, key),
    };
  }
}

/** The run-time half of {@link IndexTable}. */
interface IndexTableModel {
  readonly [entityTableBrand]: 1;
  readonly binding_: Binding;
  readonly on_: EntityIndex;
  query(key: Values): QueryCommand;
}

/** The binding behind a bound entity, for the functions that take one. */
export const bindingOf = (value: unknown): Binding =>
  hasBrand(value, entityTableBrand)
    ? (value as EntityTableModel).binding_
    : invalid('table', 'expected a bound entity, such as shop.of(Order)');

/** What a bound entity, or an index of one, reads from. */
export const readsFrom = (value: unknown): { binding: Binding; index: EntityIndex | undefined } => ({
  binding: bindingOf(value),
  index: (value as Partial<IndexTableModel>).on_,
});

/** The table behind a public one. */
export const tableModelOf = (value: unknown): TableModel =>
  hasBrand(value, tableBrand)
    ? (value as { [tableBrand]: TableModel })[tableBrand]
    : invalid('table', 'expected a table made by table()');

/** Refuses names of which one would overwrite another. */
const checkNaming = ({ pk, sk, type, timeToLive, indexes }: Naming): void => {
  const own = [pk, ...(sk === undefined ? [] : [sk]), type, timeToLive];
  if (own.some((name) => !isFilledText(name))) invalid('table', 'expected names of attributes');
  if (new Set(own).size < own.length) invalid('table', 'gives two of pk, sk, type and timeToLive one name');
  for (const [index, names] of Object.entries(indexes)) {
    const keys = [names.pk, ...(names.sk === undefined ? [] : [names.sk])];
    if (keys.some((name) => name === type || name === timeToLive || name === '') || keys[0] === keys[1])
      invalid(index, 'has a key of the name of another attribute that the library writes');
  }
};

/**
 * A table, by name and on the caller's own client.
 *
 * @throws InvalidInputError for a DocumentClient, which would encode values twice
 * @example
 * import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
 * const shop = table({ name: 'shop', client: new DynamoDBClient() });
 */
export const table = (options: TableOptions): Table => {
  if (typeof options !== 'object' || options === null) invalid('table', 'expected a name and a client');
  const { name, client, pk = 'pk', sk = 'sk', type = '_type', timeToLive = 'ttl', indexes = {} } = options;
  if (!isFilledText(name)) invalid('name', "expected the table's name");
  if (typeof (client as { send?: unknown } | undefined)?.send !== 'function')
    invalid('client', 'expected a DynamoDBClient');
  // Told by its static `from`: it shares its configuration with the client inside, and a bundler renames classes.
  if (typeof (client.constructor as { from?: unknown }).from === 'function') {
    invalid('client', 'expected the DynamoDBClient, not the DynamoDBDocumentClient around it');
  }
  const naming: Naming = {
    pk,
    sk: sk === false ? undefined : sk,
    type,
    timeToLive,
    indexes: Object.fromEntries(
      Object.entries(indexes).map(([index, names]) => [
        index,
        { pk: names.pk ?? `${index}pk`, sk: names.sk === false ? undefined : (names.sk ?? `${index}sk`) },
      ]),
    ),
  };
  checkNaming(naming);
  const model = new TableModel(name, client, naming);
  const bound = new WeakMap<object, EntityTableModel>();
  const shop = {
    [tableBrand]: model,
    name,
    client,
    of(entity: object): EntityTableModel {
      let entityTable = bound.get(entity);
      if (!entityTable) bound.set(entity, (entityTable = new EntityTableModel(model.bind_(entity))));
      return entityTable;
    },
  };
  return shop as unknown as Table;
};
