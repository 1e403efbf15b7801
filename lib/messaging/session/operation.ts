import { Buffer } from 'node:buffer';
import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { AttributeMap, AttributeValue, Step, Table } from '../../commands/index.js';
import { itemSize } from '../../commands/index.js';
import type { Naming } from '../../commands/entity/compiled.js';
import { invalid } from '../../commands/errors/errors.js';
import { tableModelOf } from '../../commands/table/table.js';
import { isStep, stepSymbol, type StepParts } from '../../commands/write/step.js';

/** A write of a transaction, rendered. */
export interface Operation {
  readonly name: string;
  readonly parts: StepParts;
}

/** The step that a rendered operation is again. */
export const stepOf = (parts: StepParts): Step<unknown> => ({ [stepSymbol]: () => parts }) as unknown as Step<unknown>;

/** What a write puts, or an update at least writes, in bytes; its key counts too. */
export const bytesOf = ({ kind, written, key }: StepParts): number =>
  kind === 'Put' ? itemSize(written) : itemSize(key) + (kind === 'Update' ? itemSize(written) : 0);

/** A table may be named by its ARN. */
const nameOf = (tableName: string): string => tableName.replace(/^arn:.*:table\//, '');

/** Tells an item from all others. */
export const itemId = ({ request, key }: Pick<StepParts, 'request' | 'key'>): string =>
  JSON.stringify([
    nameOf(request.TableName),
    Object.keys(key)
      .sort()
      .map((name) => {
        const { S, N, B } = key[name] as AttributeValue;
        return [name, S, N, B && Buffer.from(B).toString('base64')];
      }),
  ]);

const kinds = ['Put', 'Update', 'Delete', 'ConditionCheck'] as const;

/** Renders what a handler adds: a command of the library, or an item of the SDK's TransactWriteItems. */
export const partsOf = (added: unknown, name: string, tables: readonly Table[]): StepParts =>
  isStep(added) ? added[stepSymbol]() : rawParts(added as TransactWriteItem, name, tables);

/** A default name, by kind and place. */
export const nameFor = (added: unknown, place: number): string => {
  const kind = (added as { kind?: unknown } | null)?.kind ?? kinds.find((kind) => isMember(added, kind));
  const entity = (added as { binding?: { entity?: { model?: { name?: unknown } } } } | null)?.binding?.entity?.model
    ?.name;
  return `${typeof kind === 'string' ? kind : 'operation'} ${place}${typeof entity === 'string' ? ` of ${entity}` : ''}`;
};

const isMember = (value: unknown, name: string): boolean =>
  typeof value === 'object' && value !== null && (value as Record<string, unknown>)[name] !== undefined;

const valueTypes = ['S', 'N', 'B', 'BOOL', 'NULL', 'M', 'L', 'SS', 'NS', 'BS'];

/** Refuses plain values, which lib-dynamodb takes and this client would not understand. */
const checkValues = (values: unknown, name: string): AttributeMap => {
  if (typeof values !== 'object' || values === null) return invalid(name, 'expected attribute values');
  for (const value of Object.values(values) as unknown[]) {
    const types = typeof value === 'object' && value !== null ? Object.keys(value) : [];
    if (types.length !== 1 || !valueTypes.includes(types[0] as string))
      invalid(name, "has a member that is no attribute value, such as { S: 'text' }: toItem(object) makes them");
  }
  return values as AttributeMap;
};

const isKeyValue = (value: AttributeValue | undefined): value is AttributeValue =>
  value !== undefined && [value.S, value.N, value.B].some((part) => part !== undefined && part.length > 0);

/** The key that an item holds. A mapped object may lack it, and would then be refused at the commit, or go astray. */
const keyIn = (item: AttributeMap, naming: Naming, name: string): AttributeMap => {
  const key: AttributeMap = {};
  for (const attribute of [naming.pk, naming.sk]) {
    if (attribute === undefined) continue;
    const value = Object.hasOwn(item, attribute) ? item[attribute] : undefined;
    if (!isKeyValue(value)) return invalid(name, `lacks the key attribute ${attribute}: add it to the mapped item`);
    key[attribute] = value;
  }
  return key;
};

const rawParts = (raw: TransactWriteItem, name: string, tables: readonly Table[]): StepParts => {
  const given = kinds.filter((kind) => isMember(raw, kind));
  const [kind] = given;
  if (kind === undefined || given.length > 1)
    return invalid(name, 'expected a command, or an item with one of Put, Update, Delete and ConditionCheck');
  const request = { ...raw[kind] } as StepParts['request'] & { Item?: unknown; Key?: unknown };
  const tableName: unknown = request.TableName;
  if (typeof tableName !== 'string' || tableName === '') return invalid(name, 'expected a TableName');
  const known = tables.find((table) => table.name === nameOf(tableName));
  const naming = known && tableModelOf(known).naming;
  if (kind === 'Put') {
    if (naming === undefined)
      return invalid(name, 'is a put into a table whose key is not known: name the table in the option `tables`');
    const written = checkValues(request.Item, name);
    return { kind, request, key: keyIn(written, naming, name), written, notInBatch: undefined, decode: asIs };
  }
  const stored = checkValues(request.Key, name);
  const key = naming === undefined ? stored : keyIn(stored, naming, name);
  if (Object.keys(stored).length !== Object.keys(key).length || !Object.values(key).every(isKeyValue))
    return invalid(name, 'expected a Key of the key attributes and nothing else');
  const written = checkValues(request['ExpressionAttributeValues'] ?? {}, name);
  return { kind, request, key, written, notInBatch: undefined, decode: asIs };
};

const asIs = (item: AttributeMap): unknown => item;
