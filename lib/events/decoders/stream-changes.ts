import { Buffer } from 'node:buffer';
import type { AnyEntity, AttributeMap, AttributeValue, Table } from '../../commands/index.js';
import type { CompiledEntity } from '../../commands/entity/compiled.js';
import { invalid } from '../../commands/errors/errors.js';
import { bindingOf } from '../../commands/table/table.js';
import { checkTable, isArray } from '../../recipes/arguments.js';
import { poison, PoisonRecordError } from '../poison/poison-record-error.js';
import type { StreamEventRecord, StreamImage, StreamValue } from '../sources/stream-event.js';
import type { Decoder } from './decoder.js';

/** A change of an item of one entity. */
export interface StreamChange<E extends AnyEntity> {
  readonly source: 'stream';
  /** The entity's name. */
  readonly type: E['name'];
  readonly kind: 'INSERT' | 'MODIFY' | 'REMOVE';
  readonly key: E['~key'];
  /** The item after the change, where the stream's view has it. */
  readonly newItem: E['~item'] | undefined;
  /** The item before the change, where the stream's view has it. */
  readonly oldItem: E['~item'] | undefined;
  /** Whether time to live removed it. A global table's other Regions can't tell. */
  readonly expired: boolean;
  readonly record: StreamEventRecord;
}

/** A change of an item of one of several entities; `type` tells which. */
export type AnyStreamChange<L extends readonly AnyEntity[]> = { [I in keyof L]: StreamChange<L[I]> }[number];

const fromBase64 = (data: string): Uint8Array => Buffer.from(data, 'base64');

/** A value as the SDK has it. */
const valueOf = ({ B, BS, L, M, ...other }: StreamValue): AttributeValue => {
  if (B !== undefined) return { B: fromBase64(B) };
  if (BS !== undefined) return { BS: BS.map(fromBase64) };
  if (L !== undefined) return { L: L.map(valueOf) };
  if (M !== undefined) return { M: itemOf(M) };
  return other as AttributeValue;
};

const itemOf = (image: StreamImage): AttributeMap =>
  Object.fromEntries(Object.entries(image).map(([name, value]) => [name, valueOf(value)]));

const isExpiry = (who: unknown): boolean => {
  const { type, principalId } = (who ?? {}) as { type?: unknown; principalId?: unknown };
  return type === 'Service' && principalId === 'dynamodb.amazonaws.com';
};

/** An image as an entity's item. What it refuses may be named by a path, but not quoted. */
const decoded = (entity: CompiledEntity, image: AttributeMap | undefined): Record<string, unknown> | undefined => {
  try {
    return image && entity.decode_(image);
  } catch (cause) {
    throw new PoisonRecordError('image', 'an image does not match its entity', { cause });
  }
};

const keyOf = ({ model_: model, naming_: naming }: CompiledEntity, keys: AttributeMap): object => {
  const sk = naming.sk === undefined ? {} : model.sk?.tryParse_(keys[naming.sk]?.S ?? '');
  const pk = model.pk.tryParse_(keys[naming.pk]?.S ?? '');
  return pk && sk ? { ...pk, ...sk } : poison('image', 'its key is none of its entity');
};

/**
 * Changes of a table's items from its stream, as items of their entities by the discriminator; in a stream of keys only,
 * and for items without discriminator, by the key. Old and new item are there as far as the stream's view has them.
 * Records of other entities are skipped; a filter of the mapping keeps them from costing an invocation. It costs nothing.
 *
 * @throws InvalidInputError for an entity that does not fit the table
 * @returns a decoder that throws PoisonRecordError of reason `body` or `image`
 * @example
 * const handler = batchHandler({
 *   decode: { stream: streamChanges(shop, [Account, Order]) },
 *   handle: (change) => {
 *     if (change.type === 'ORDER' && change.newItem?.status === 'PAID') console.log('paid');
 *     if (change.type === 'ACCOUNT' && change.expired) console.log('expired');
 *   },
 * });
 */
export const streamChanges = <const L extends readonly [AnyEntity, ...AnyEntity[]]>(
  table: Table,
  entities: L,
): Decoder<StreamEventRecord, AnyStreamChange<L>> => {
  checkTable(table);
  if (!isArray(entities)) invalid('entities', 'expected an array');
  const known = entities.map((entity) => bindingOf(table.of(entity)).entity_);
  if (known.length === 0) invalid('entities', 'expected at least one');
  return {
    decode: (record) => {
      const { dynamodb, eventName: kind, userIdentity } = record;
      if (dynamodb?.Keys === undefined) return poison('body', 'it has no keys');
      if (kind !== 'INSERT' && kind !== 'MODIFY' && kind !== 'REMOVE') return poison('body', 'it tells of no change');
      const keys = itemOf(dynamodb.Keys);
      const [newImage, oldImage] = [dynamodb.NewImage, dynamodb.OldImage].map((image) => image && itemOf(image));
      const entity = known.find((candidate) => candidate.owns_(newImage ?? oldImage ?? keys));
      if (entity === undefined) return undefined;
      return {
        source: 'stream',
        type: entity.model_.name,
        kind,
        key: keyOf(entity, keys),
        newItem: decoded(entity, newImage),
        oldItem: decoded(entity, oldImage),
        expired: kind === 'REMOVE' && isExpiry(userIdentity),
        record,
      } as AnyStreamChange<L>;
    },
  };
};
