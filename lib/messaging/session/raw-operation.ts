import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { isFilledText } from '../../commands/attributes/text.js';
import type { AttributeMap, AttributeValue, Table } from '../../commands/index.js';
import type { Naming } from '../../commands/entity/compiled.js';
import { invalid } from '../../commands/errors/errors.js';
import { tableModelOf } from '../../commands/table/table.js';
import type { StepParts } from '../../commands/write/step.js';
import { copiedMap } from './raw-values.js';

type Kind = StepParts['kind_'];

const everywhere = [
  'TableName',
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ReturnValuesOnConditionCheckFailure',
];

/** What the SDK's operations hold; it drops other members silently, a mistyped condition among them. */
const membersOf: Readonly<Record<Kind, readonly string[]>> = {
  Put: ['Item', ...everywhere],
  Update: ['Key', 'UpdateExpression', ...everywhere],
  Delete: ['Key', ...everywhere],
  ConditionCheck: ['Key', ...everywhere],
};

const kinds = Object.keys(membersOf) as Kind[];

/** The kind of an operation of the SDK, if it says one. */
export const rawKind = (raw: unknown): Kind | undefined => {
  const given = definedMembers(raw);
  return kinds.find((kind) => given.includes(kind));
};

const definedMembers = (value: unknown): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([member, content]) => (content === undefined ? [] : member))
    : [];

/** A table may be named by its ARN. */
export const tableNameOf = (tableName: string): string => tableName.replace(/^arn:.*:table\//, '');

const knownTable = (tableName: string, tables: readonly Table[]): Table | undefined =>
  tables.find(({ name }) => name === tableName) ??
  tables.find(({ name }) => tableNameOf(name) === tableNameOf(tableName));

/** Renders an item of the SDK's TransactWriteItems: a copy, checked, so that what is sent is what was added. */
export const rawParts = (raw: TransactWriteItem, name: string, tables: readonly Table[]): StepParts => {
  const kind = rawKind(raw);
  if (kind === undefined || definedMembers(raw).length > 1)
    return invalid(name, 'expected a command, or an item with one of Put, Update, Delete and ConditionCheck');
  const given = raw[kind] as unknown as Record<string, unknown> | null;
  if (typeof given !== 'object' || given === null) return invalid(name, `expected a ${kind} of the SDK`);
  const request = copiedRequest(kind, given, name);
  const known = knownTable(request.TableName, tables);
  const naming = known && tableModelOf(known).naming_;
  if (kind === 'Put') {
    if (naming === undefined)
      return invalid(name, 'is a put into a table whose key is not known: name the table in the option `tables`');
    const Item = copiedMap(given['Item'], name);
    const key = keyIn(Item, naming, name);
    return {
      kind_: kind,
      request_: { ...request, Item },
      key_: key,
      written_: Item,
      notInBatch_: undefined,
      decode_: asIs,
    };
  }
  const Key = copiedMap(given['Key'], name);
  const key = naming === undefined ? Key : keyIn(Key, naming, name);
  const size = Object.keys(Key).length;
  if (size === 0 || size > 2 || size !== Object.keys(key).length || !Object.values(Key).every(isKeyValue))
    return invalid(name, 'expected a Key of the key attributes and nothing else');
  const written = (request['ExpressionAttributeValues'] ?? {}) as AttributeMap;
  return {
    kind_: kind,
    request_: { ...request, Key },
    key_: key,
    written_: written,
    notInBatch_: undefined,
    decode_: asIs,
  };
};

/** All of a request but its item or key. */
const copiedRequest = (kind: Kind, given: Record<string, unknown>, name: string): StepParts['request_'] => {
  const unknown = definedMembers(given).find((member) => !membersOf[kind].includes(member));
  if (unknown !== undefined)
    invalid(
      name,
      `expected of a ${kind} nothing but ${membersOf[kind].join(', ')}: DynamoDB would not see what else it says`,
    );
  const TableName = textIn(given, 'TableName', name) ?? invalid(name, 'expected a TableName');
  const request: Record<string, unknown> & { TableName: string } = { TableName };
  for (const member of ['ConditionExpression', 'UpdateExpression', 'ReturnValuesOnConditionCheckFailure']) {
    const text = textIn(given, member, name);
    if (text !== undefined) request[member] = text;
  }
  if (kind === 'Update' && request['UpdateExpression'] === undefined) invalid(name, 'expected an UpdateExpression');
  if (kind === 'ConditionCheck' && request['ConditionExpression'] === undefined)
    invalid(name, 'expected a ConditionExpression');
  const { ExpressionAttributeNames: names, ExpressionAttributeValues: values } = given;
  if (names !== undefined) request['ExpressionAttributeNames'] = copiedNames(names, name);
  if (values !== undefined) request['ExpressionAttributeValues'] = copiedMap(values, name);
  return request;
};

const textIn = (given: Record<string, unknown>, member: string, name: string): string | undefined => {
  const value = given[member];
  if (value === undefined || isFilledText(value)) return value;
  return invalid(name, `expected text for ${member}`);
};

const copiedNames = (names: unknown, name: string): Record<string, unknown> => {
  if (
    typeof names !== 'object' ||
    names === null ||
    !Object.values(names).every((attribute) => typeof attribute === 'string')
  )
    return invalid(name, 'expected ExpressionAttributeNames that are text');
  return { ...names };
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

const asIs = (item: AttributeMap): unknown => item;
