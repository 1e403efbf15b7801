import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLocalDynamoDB } from '../../lib/local/index.js';
import type { LocalDynamoDB } from '../../lib/local/index.js';
import { createTable, key } from './helpers.js';
import { rawCall } from './raw.js';

let local: LocalDynamoDB;
let call: ReturnType<typeof rawCall>;
let table: string;

beforeAll(async () => {
  local = await createLocalDynamoDB();
  call = rawCall(local);
  table = await createTable(new DynamoDBClient({ ...local.clientConfig }), {
    AttributeDefinitions: ['pk', 'sk', 'owner'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    GlobalSecondaryIndexes: [
      {
        IndexName: 'byOwner',
        KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  });
});
afterAll(() => local.close());

const put = (item: object, extra: object = {}): Promise<Record<string, unknown>> =>
  call('PutItem', { TableName: table, Item: { ...key('c'), ...item }, ...extra });
const update = (UpdateExpression: string, values: object, extra: object = {}): Promise<Record<string, unknown>> =>
  call('UpdateItem', {
    TableName: table,
    Key: key('c'),
    UpdateExpression,
    ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}),
    ReturnValues: 'ALL_NEW',
    ...extra,
  });
const refused = (message: string): object => ({ error: 'ValidationException', message });

describe('conditions', () => {
  const item = {
    m: { M: { a: { N: '1' }, l: { L: [{ S: 'x' }, { BOOL: true }] } } },
    s: { NS: ['1', '2', '3'] },
    n: { N: '12345678901234567890123456789012345678' },
    small: { N: '-0.5' },
    txt: { S: '\u{FFFF}' },
    b: { B: Buffer.from([1, 254, 255]).toString('base64') },
    lst: { L: [{ M: { id: { S: 'i' } } }, { N: '7' }] },
  };
  const binary = (...bytes: number[]): object => ({ B: Buffer.from(bytes).toString('base64') });

  test.each<[string, object, boolean]>([
    ['m = :v', { M: { l: { L: [{ S: 'x' }, { BOOL: true }] }, a: { N: '1.0' } } }, true],
    ['m = :v', { M: { l: { L: [{ BOOL: true }, { S: 'x' }] }, a: { N: '1' } } }, false],
    ['m.l = :v', { L: [{ S: 'x' }, { BOOL: true }] }, true],
    ['s = :v', { NS: ['3', '1', '2'] }, true],
    ['s = :v', { NS: ['3', '1'] }, false],
    ['n = :v', { N: '12345678901234567890123456789012345678' }, true],
    ['n < :v', { N: '12345678901234567890123456789012345679' }, true],
    ['n > :v', { N: '12345678901234567890123456789012345677' }, true],
    ['small < :v', { N: '-0.25' }, true],
    ['small > :v', { N: '-10' }, true],
    ['small BETWEEN :v AND :v', { N: '-5E-1' }, true],
    // By UTF-8 bytes a character beyond the first plane is the larger; by UTF-16 units the smaller.
    ['txt < :v', { S: '\u{1F600}' }, true],
    ['b > :v', binary(1, 254), true],
    ['begins_with(b, :v)', binary(1, 254), true],
    ['begins_with(b, :v)', binary(1, 255), false],
    ['contains(b, :v)', binary(254, 255), true],
    ['contains(lst, :v)', { M: { id: { S: 'i' } } }, true],
    ['contains(lst, :v)', { N: '7' }, true],
    ['contains(s, :v)', { N: '2' }, true],
    ['size(m) = :v', { N: '2' }, true],
    ['size(b) = :v', { N: '3' }, true],
    ['m IN (:v, :v)', { M: { a: { N: '1' }, l: { L: [{ S: 'x' }, { BOOL: true }] } } }, true],
    ['absent <> :v', { S: 'x' }, true],
    ['absent < :v', { S: 'x' }, false],
    ['NOT absent = :v', { S: 'x' }, true],
    ['attribute_type(m, :v)', { S: 'M' }, true],
    ['txt < :v', { N: '1' }, false],
  ])('%s with %o is %s', async (ConditionExpression, value, expected) => {
    await put(item);
    const values = { ExpressionAttributeValues: { ':v': value } };
    const written = await call('UpdateItem', { TableName: table, Key: key('c'), ConditionExpression, ...values });
    expect(written['error'] ?? 'ok').toBe(expected ? 'ok' : 'ConditionalCheckFailedException');
    const found = await call('Scan', { TableName: table, FilterExpression: ConditionExpression, ...values });
    expect(found['Count']).toBe(expected ? 1 : 0);
    const check = await call('TransactWriteItems', {
      TransactItems: [{ ConditionCheck: { TableName: table, Key: key('c'), ConditionExpression, ...values } }],
    });
    expect(check['error'] ?? 'ok').toBe(expected ? 'ok' : 'TransactionCanceledException');
  });

  test('filters go with projections and counts', async () => {
    await put({ m: { M: { a: { N: '1' }, b: { N: '2' } } }, x: { S: 'y' } });
    const request = {
      TableName: table,
      KeyConditionExpression: 'pk = :pk',
      FilterExpression: 'm = :m',
      ExpressionAttributeValues: { ':pk': { S: 'c' }, ':m': { M: { b: { N: '2' }, a: { N: '1' } } } },
    };
    expect(await call('Query', { ...request, ProjectionExpression: 'm.b' })).toEqual({
      Items: [{ m: { M: { b: { N: '2' } } } }],
      Count: 1,
      ScannedCount: 1,
    });
    expect(await call('Query', { ...request, Select: 'COUNT' })).toEqual({ Count: 1, ScannedCount: 1 });
  });
});

describe('updates', () => {
  test('read every operand before they write any', async () => {
    await put({ a: { M: { n: { N: '1' } } }, b: { M: { n: { N: '2' } } } });
    const { Attributes } = await update('SET a = b, b.n = :n, c = if_not_exists(b, :n)', { ':n': { N: '9' } });
    expect(Attributes).toMatchObject({
      a: { M: { n: { N: '2' } } },
      b: { M: { n: { N: '9' } } },
      c: { M: { n: { N: '2' } } },
    });
  });

  test('refuse results that are no storable number', async () => {
    await put({ n: { N: '9.9E125' } });
    expect(await update('SET n = n + n', {})).toEqual(
      refused('Number overflow. Attempting to store a number with magnitude larger than supported range'),
    );
    const digits = { ':a': { N: '1'.repeat(38) }, ':b': { N: '0.5' } };
    expect(await update('SET n = :a + :b', digits)).toEqual(
      refused('Attempting to store more than 38 significant digits in a Number'),
    );
  });

  test('are limited with their actions, which a transaction does not count', async () => {
    // pk, sk and d: 9 bytes of names and key values beside the text.
    const text = 'x'.repeat(409_600 - 7);
    await put({});
    const large = { ':d': { S: text } };
    const error = refused('Item size to update has exceeded the maximum allowed size');
    expect(await update('SET d = :d', large)).toEqual(error);
    const transact = (values: object): Promise<Record<string, unknown>> =>
      call('TransactWriteItems', {
        TransactItems: [
          {
            Update: {
              TableName: table,
              Key: key('c'),
              UpdateExpression: 'SET d = :d',
              ExpressionAttributeValues: values,
            },
          },
        ],
      });
    expect(await transact(large)).toEqual({});
    expect((await transact({ ':d': { S: `${text}x` } }))['error']).toBe('TransactionCanceledException');
    expect(await put({ d: { S: `${text}x` } })).toEqual(refused('Item size has exceeded the maximum allowed size'));
    expect(await put({ d: { S: text } })).toEqual({});
    await put({});
  });
});

describe('limits', () => {
  test('of keys count bytes of UTF-8', async () => {
    const bad = async (pk: string, sk: string): Promise<unknown> =>
      (await call('PutItem', { TableName: table, Item: key(pk, sk) }))['error'];
    expect(await bad('ä'.repeat(1025), '-')).toBe('ValidationException');
    expect(await bad('a', 'ä'.repeat(513))).toBe('ValidationException');
    expect(await bad('ä'.repeat(1024), 'ä'.repeat(512))).toBeUndefined();
    await call('DeleteItem', { TableName: table, Key: key('ä'.repeat(1024), 'ä'.repeat(512)) });
  });

  test('keys of an index are not empty, however they are written', async () => {
    const message =
      'One or more parameter values are not valid. A value specified for a secondary index key is not supported. ' +
      'The AttributeValue for a key attribute cannot contain an empty string value. IndexName: byOwner, IndexKey: owner';
    const empty = { owner: { S: '' } };
    expect(await put(empty)).toEqual(refused(message));
    expect(await update('SET #o = :o', { ':o': empty.owner }, { ExpressionAttributeNames: { '#o': 'owner' } })).toEqual(
      refused(message),
    );
    const RequestItems = { [table]: [{ PutRequest: { Item: { ...key('c'), ...empty } } }] };
    expect(await call('BatchWriteItem', { RequestItems })).toEqual(refused(message));
  });

  test('of expressions: bytes, operators, operands of IN', async () => {
    const condition = (ConditionExpression: string, values: object = { ':a': { S: '' } }): Promise<unknown> =>
      put({}, { ConditionExpression, ExpressionAttributeValues: values }).then(({ message }) => message);
    const values = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`:v${i}`, { S: String(i) }]));
    expect(await condition(`${'a'.repeat(4092)} = :a`)).toContain('Expression size has exceeded');
    expect(await condition(`a IN (${Object.keys(values).join(', ')})`, values)).toContain('number of operands: 101');
    const many = (count: number): string => Array.from({ length: count }, () => 'a=:a').join(' OR ');
    expect(await condition(many(151))).toContain('too many operators');
    expect(await condition(many(150))).toBe('The conditional request failed');
  });

  test('items are nested 32 levels deep', async () => {
    const nested = (levels: number): object => (levels === 0 ? { S: 'x' } : { L: [nested(levels - 1)] });
    expect(await put({ d: nested(33) })).toEqual(refused('Nesting Levels have exceeded supported limits'));
    expect(await put({ d: nested(32) })).toEqual({});
  });
});

test('table ARNs are names', async () => {
  const arn = `arn:aws:dynamodb:us-east-1:000000000000:table/${table}`;
  expect(await call('PutItem', { TableName: arn, Item: key('arn') })).toEqual({});
  expect(await call('GetItem', { TableName: arn, Key: key('arn') })).toEqual({ Item: key('arn') });
  expect(await call('BatchGetItem', { RequestItems: { [arn]: { Keys: [key('arn')] } } })).toMatchObject({
    Responses: { [table]: [key('arn')] },
  });
  expect(
    await call('TransactWriteItems', { TransactItems: [{ Delete: { TableName: arn, Key: key('arn') } }] }),
  ).toEqual({});
  expect(await call('GetItem', { TableName: table, Key: key('arn') })).toEqual({});
});

test('syntax errors name the token and what is near', async () => {
  expect(await update('SET = :a', { ':a': { S: '' } })).toEqual(
    refused('Invalid UpdateExpression: Syntax error; token: "=", near: "SET = :a"'),
  );
});
