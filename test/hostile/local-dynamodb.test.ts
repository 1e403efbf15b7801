import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalDynamoDB, type LocalDynamoDB } from '../../lib/local/index.js';
import { mutated } from './hostile-values.js';
import { rawHttp, type RawAnswer } from './raw-http.js';

const key = { pk: { S: 'a' }, sk: { N: '1' } };
const item = { ...key, tags: { SS: ['x', 'y'] }, n: { N: '7' }, m: { M: { l: { L: [{ S: 'x' }] } } } };
const names = { '#n': 'n', '#m': 'm' };
const table = {
  TableName: 'made',
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'N' },
    { AttributeName: 'n', AttributeType: 'N' },
  ],
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    { IndexName: 'byN', KeySchema: [{ AttributeName: 'n', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } },
  ],
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
};
const on = { TableName: 'shop' };
const update = {
  ...on,
  Key: key,
  UpdateExpression: 'SET #n = if_not_exists(#n, :n) + :n, #m.l[0] = :s ADD tags :t REMOVE gone',
  ConditionExpression: 'attribute_exists(pk) AND (#n > :n OR contains(tags, :s)) AND size(#m) >= :n',
  ExpressionAttributeNames: names,
  ExpressionAttributeValues: { ':n': { N: '1' }, ':s': { S: 'x' }, ':t': { SS: ['z'] } },
  ReturnValues: 'ALL_NEW',
};

/** A request of each operation that is answered with 200, to be made worse. */
const goods: Record<string, Record<string, unknown>> = {
  PutItem: {
    ...{ ...on, Item: item, ConditionExpression: 'attribute_not_exists(#n) OR #n <> :n', ReturnValues: 'ALL_OLD' },
    ...{ ExpressionAttributeNames: { '#n': 'n' }, ExpressionAttributeValues: { ':n': { N: '8' } } },
  },
  GetItem: { ...on, Key: key, ProjectionExpression: '#n, #m.l[0]', ExpressionAttributeNames: names },
  UpdateItem: update,
  DeleteItem: { ...on, Key: key, Expected: { n: { Exists: false } }, ReturnValues: 'ALL_OLD' },
  Query: {
    ...{ ...on, KeyConditionExpression: 'pk = :p AND sk BETWEEN :a AND :b', FilterExpression: '#n > :a', Limit: 5 },
    ExpressionAttributeNames: { '#n': 'n' },
    ExpressionAttributeValues: { ':p': { S: 'a' }, ':a': { N: '0' }, ':b': { N: '9' } },
    ExclusiveStartKey: key,
  },
  Scan: { ...on, IndexName: 'byN', Segment: 0, TotalSegments: 2, Limit: 3, ReturnConsumedCapacity: 'INDEXES' },
  BatchGetItem: { RequestItems: { shop: { Keys: [key, { pk: { S: 'b' }, sk: { N: '2' } }], ConsistentRead: true } } },
  BatchWriteItem: {
    RequestItems: {
      shop: [{ PutRequest: { Item: item } }, { DeleteRequest: { Key: { pk: { S: 'b' }, sk: { N: '2' } } } }],
    },
  },
  TransactGetItems: {
    TransactItems: [{ Get: { ...on, Key: key } }, { Get: { ...on, Key: { ...key, sk: { N: '2' } } } }],
  },
  TransactWriteItems: {
    ClientRequestToken: 'token',
    TransactItems: [
      { Put: { ...on, Item: { ...item, sk: { N: '3' } } } },
      { Delete: { ...on, Key: { ...key, sk: { N: '4' } } } },
      { ConditionCheck: { ...on, Key: { ...key, sk: { N: '5' } }, ConditionExpression: 'attribute_not_exists(pk)' } },
    ],
  },
  CreateTable: table,
  UpdateTable: { ...on, StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } },
  DescribeTable: on,
  ListTables: { Limit: 3, ExclusiveStartTableName: 'a' },
  UpdateTimeToLive: { ...on, TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true } },
  DescribeTimeToLive: on,
  DescribeContinuousBackups: on,
  UpdateContinuousBackups: {
    ...on,
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  },
  ExecuteStatement: { Statement: 'SELECT * FROM "shop" WHERE pk = ? AND sk = ?', Parameters: [{ S: 'a' }, { N: '1' }] },
  BatchExecuteStatement: {
    Statements: [{ Statement: `UPDATE "shop" SET n = 1 WHERE pk = 'a' AND sk = 1` }],
  },
  ExecuteTransaction: {
    TransactStatements: [{ Statement: `INSERT INTO "shop" VALUE {'pk': 'p', 'sk': 9}` }],
    ClientRequestToken: 'other',
  },
  TagResource: {
    ResourceArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/shop',
    Tags: [{ Key: 'a', Value: 'b' }],
  },
  ListTagsOfResource: { ResourceArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/shop' },
  'Streams.ListStreams': { ...on, Limit: 3 },
  'Streams.DescribeStream': { StreamArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/shop/stream/x', Limit: 3 },
  'Streams.GetShardIterator': {
    ...{ StreamArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/shop/stream/x', ShardId: 'shardId-0' },
    ...{ ShardIteratorType: 'AT_SEQUENCE_NUMBER', SequenceNumber: '1' },
  },
  'Streams.GetRecords': { ShardIterator: 'x', Limit: 3 },
};

const targetOf = (operation: string): string =>
  operation.startsWith('Streams.')
    ? `DynamoDBStreams_20120810.${operation.slice('Streams.'.length)}`
    : `DynamoDB_20120810.${operation}`;

let local: LocalDynamoDB;
let port: number;
const call = async (operation: string, body: string): Promise<{ status: number; body: Record<string, unknown> }> => {
  const { response } = await local.requestHandler.handle({ headers: { 'x-amz-target': targetOf(operation) }, body });
  return {
    status: response.statusCode,
    body: JSON.parse(Buffer.from(response.body).toString()) as Record<string, unknown>,
  };
};

const expectAnswer = ({ status, body }: { status: number; body: Record<string, unknown> }, sent: string): void => {
  if (status === 200) return;
  const { __type: type, message = body['Message'] } = body;
  if (status >= 500) throw new Error(`${status} ${String(message)} for ${sent}`);
  expect(type).toMatch(/^[\w.]+#\w+(Exception|Error|Canceled\w*)$/);
  if (type !== 'com.amazon.coral.service#UnknownOperationException') expect(typeof message).toBe('string');
};

beforeAll(async () => {
  local = await createLocalDynamoDB();
  await call('CreateTable', JSON.stringify({ ...table, TableName: 'shop' }));
  await call('PutItem', JSON.stringify({ ...on, Item: item }));
  ({ port } = await local.listen());
});
afterAll(() => local.close());

describe('a request to the embedded DynamoDB that is made worse', () => {
  it.each(Object.keys(goods))('as %s is answered, or refused as DynamoDB refuses', async (operation) => {
    await fc.assert(
      fc.asyncProperty(mutated(goods[operation]), async (input) => {
        const sent = JSON.stringify(input) ?? '';
        expectAnswer(await call(operation, sent), sent);
      }),
      { numRuns: 250 },
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    // It goes on.
    expect((await call('DescribeTable', JSON.stringify(on))).status).toBe(200);
  });

  it('takes names of prototypes as names', async () => {
    for (const name of ['constructor', 'toString', 'hasOwnProperty', '__defineGetter__']) {
      const item = JSON.parse(
        `{"TableName":"shop","Item":{"pk":{"S":"${name}"},"sk":{"N":"1"},"${name}":{"S":"v"},"m":{"M":{"${name}":{"N":"1"}}}}}`,
      ) as object;
      expect((await call('PutItem', JSON.stringify(item))).status).toBe(200);
      const { body } = await call('GetItem', JSON.stringify({ ...on, Key: { pk: { S: name }, sk: { N: '1' } } }));
      const got = body['Item'] as Record<string, unknown>;
      expect(Object.hasOwn(got, name)).toBe(true);
      expect(JSON.stringify(got[name])).toBe('{"S":"v"}');
      const read = await call(
        'GetItem',
        JSON.stringify({
          ...{ ...on, Key: { pk: { S: name }, sk: { N: '1' } }, ProjectionExpression: '#a, m.#a' },
          ExpressionAttributeNames: { '#a': name },
        }),
      );
      expect(JSON.stringify(read.body)).toContain('{"S":"v"}');
    }
    for (const TableName of ['__proto__', 'constructor', '../../x', 'a/b', '..', '.', 'x'.repeat(256)]) {
      for (const operation of ['DescribeTable', 'GetItem', 'CreateTable', 'DeleteTable']) {
        const more = operation === 'CreateTable' ? table : operation === 'GetItem' ? { Key: key } : {};
        const sent = JSON.stringify({ ...more, TableName });
        expectAnswer(await call(operation, sent), sent);
      }
    }
  });
});

describe('__proto__', () => {
  it.each([
    ['PutItem', '{"TableName":"shop","Item":{"pk":{"S":"a"},"sk":{"N":"1"},"__proto__":{"S":"v"}}}'],
    ['PutItem', '{"TableName":"shop","Item":{"pk":{"S":"a"},"sk":{"N":"1"},"\\u005f_proto__":{"S":"v"}}}'],
    ['PutItem', '{"TableName":"shop","Item":{"pk":{"S":"a"},"sk":{"N":"1"},"m":{"M":{"__proto__":{"S":"v"}}}}}'],
    [
      'UpdateItem',
      JSON.stringify({
        ...{ ...on, Key: key, UpdateExpression: 'SET #a = :v', ExpressionAttributeNames: { '#a': '__proto__' } },
        ExpressionAttributeValues: { ':v': { S: 'v' } },
      }),
    ],
  ])('is refused as the name of an attribute, since it would be lost: %s', async (operation, body) => {
    const answer = await call(operation, body);
    expect(answer).toMatchObject({
      status: 400,
      body: { __type: expect.stringMatching(/#ValidationException$/) as string },
    });
  });

  it('is text like any other', async () => {
    const text = { pk: { S: '__proto__' }, sk: { N: '1' }, v: { S: '__proto__' } };
    expect((await call('PutItem', JSON.stringify({ ...on, Item: text }))).status).toBe(200);
    const Key = { pk: text.pk, sk: text.sk };
    expect((await call('GetItem', JSON.stringify({ ...on, Key }))).body).toEqual({ Item: text });
  });
});

const http = (method: string, path: string, headers: Record<string, string>, body?: string | Buffer) =>
  rawHttp(port, method, path, headers, body);
const raw = (text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(text));
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });

describe('the server of the embedded DynamoDB', () => {
  const target = { 'x-amz-target': 'DynamoDB_20120810.ListTables' };

  it.each<[string, () => Promise<RawAnswer>, number]>([
    ['no target', () => http('POST', '/', {}, '{}'), 400],
    ['a target of another service', () => http('POST', '/', { 'x-amz-target': 'Kinesis.ListTables' }, '{}'), 400],
    [
      'a target of a prototype',
      () => http('POST', '/', { 'x-amz-target': 'DynamoDB_20120810.constructor' }, '{}'),
      400,
    ],
    ['a body that is no JSON', () => http('POST', '/', target, '{"a":'), 400],
    ['a body that is no object', () => http('POST', '/', target, '[1]'), 400],
    ['a body that is no UTF-8', () => http('POST', '/', target, Buffer.from([0xff, 0xfe, 0x7b])), 400],
    ['JSON that is deeply nested', () => http('POST', '/', target, `{"a":${'['.repeat(200_000)}`), 400],
    ['another content type', () => http('POST', '/', { ...target, 'content-type': 'text/html' }, '{}'), 200],
    ['a path outside', () => http('POST', '/../../etc/passwd', target, '{}'), 200],
    ['more than 16 MB', () => http('POST', '/', target, `{"a":"${'x'.repeat(17 * 1024 * 1024)}"}`), 413],
  ])('answers %s in the form of DynamoDB', async (_, send, status) => {
    const answer = await send();
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('application/x-amz-json-1.0');
    const body = JSON.parse(answer.body) as Record<string, unknown>;
    if (status !== 200) expect(body['__type']).toMatch(/#\w+/);
    expect((await http('POST', '/', target, '{}')).status).toBe(200);
  });

  it.each(['PUT', 'DELETE', 'OPTIONS', 'PATCH', 'HEAD'])('answers %s', async (method) => {
    expect((await http(method, '/', {})).status).toBeLessThan(500);
  });

  it('outlives what is no HTTP, and clients that go away', async () => {
    for (const text of [
      'x\r\n\r\n',
      `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{',
      'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n{}',
      '\0\0\0\0',
    ]) {
      await raw(text).catch(() => '');
      expect((await http('POST', '/', target, '{}')).status).toBe(200);
    }
  });
});
