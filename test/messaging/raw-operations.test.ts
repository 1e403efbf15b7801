import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conditionCheck, table, type AttributeMap } from '../../lib/commands/index.js';
import { TestSession, bodyPath, fromInvocation, messageHandler, toItem, toObject } from '../../lib/messaging/index.js';
import { messagingShop, rejection, type MessagingShop } from './support/messaging-shop.js';
import { Account } from './support/transfer.js';

let here: MessagingShop;
let names = 0;
const fresh = (): string => `raw${++names}x`;

beforeAll(async () => {
  here = await messagingShop();
});
afterAll(() => here.close());

const client = { send: () => undefined, config: {} } as never;

describe('a raw operation', () => {
  it('commits with the message: the customer of the seed, read, mapped, changed and put', async () => {
    const id = fresh();
    const { shop } = here;
    const key = { pk: { S: `CUSTOMERS#${id}` }, sk: { S: id } };
    const handler = messageHandler<{ id: string }, { id: string }>({
      table: shop,
      consumer: 'customers',
      from: fromInvocation({ id: bodyPath('id') }),
      handle: (_message, session) => {
        const customer = { customerId: id, customerPreferred: true, tags: new Set(['a']) };
        session.add({ Put: { TableName: shop.name, Item: { ...toItem(customer), ...key } } });
        session.add(conditionCheck(shop.of(Account), { id }).ifNotExists());
        session.add({
          Update: {
            TableName: shop.name,
            Key: { pk: { S: id }, sk: { S: 'n' } },
            UpdateExpression: 'ADD n :one',
            ExpressionAttributeValues: { ':one': { N: '1' } },
          },
        });
      },
    });
    const message = { id };
    await handler(message);
    await handler(message);
    const { others } = await here.stored(id);
    expect(others.map((item) => toObject(item))).toEqual(
      expect.arrayContaining([
        { pk: `CUSTOMERS#${id}`, sk: id, customerId: id, customerPreferred: true, tags: new Set(['a']) },
        { pk: id, sk: 'n', n: 1 },
      ]),
    );
    expect(others).toHaveLength(2);
  });

  it('that is put without its keys is refused, with what to add', () => {
    const session = new TestSession({ table: table({ name: 'someTable', client, pk: 'PK', sk: 'SK' }) });
    const put = (Item: AttributeMap) => () => session.add({ Put: { TableName: 'someTable', Item } });
    const customer = toItem({ CustomerId: '1', CustomerPreferred: true });
    expect(put(customer)).toThrow('Put 1: lacks the key attribute PK: add it to the mapped item');
    expect(put({ ...customer, PK: { S: 'a' } })).toThrow('lacks the key attribute SK');
    expect(put({ ...customer, PK: { S: '' }, SK: { S: 'b' } })).toThrow('lacks the key attribute PK');
    expect(put({ ...customer, PK: { BOOL: true }, SK: { S: 'b' } })).toThrow('lacks the key attribute PK');
    expect(session.operations).toEqual([]);
    put({ ...customer, PK: { S: 'a' }, SK: { S: 'b' } })();
    put(toItem({ partitionKey: 'a', sortKey: 'c' }, { names: { partitionKey: 'PK', sortKey: 'SK' } }))();
    expect(session.operations).toHaveLength(2);
  });

  it('that is put into a table whose keys are not known is refused, until the table is named', () => {
    const Put = { TableName: 'other', Item: toItem({ id: '1' }) };
    expect(() => new TestSession().add({ Put })).toThrow('name the table in the option `tables`');
    const session = new TestSession({ tables: [table({ name: 'other', client, pk: 'id', sk: false })] });
    session.add({ Put });
    expect(() => session.add({ Put: { ...Put, Item: toItem({ name: 'x' }) } })).toThrow('lacks the key attribute id');
  });

  it.each([
    ['nothing', undefined, 'expected a command'],
    ['an empty object', {}, 'expected a command'],
    ['two operations', { Put: { TableName: 'test' }, Delete: { TableName: 'test' } }, 'expected a command'],
    ['no table', { Delete: { Key: { pk: { S: 'a' } } } }, 'expected a TableName'],
    [
      'plain values, as lib-dynamodb takes',
      { Put: { TableName: 'test', Item: { pk: 'a', sk: 'b' } } },
      'no attribute value',
    ],
    ['no item', { Put: { TableName: 'test' } }, 'expected attribute values'],
    ['half a key', { Delete: { TableName: 'test', Key: { pk: { S: 'a' } } } }, 'lacks the key attribute sk'],
    [
      'more than a key',
      { Delete: { TableName: 'test', Key: { pk: { S: 'a' }, sk: { S: 'b' }, x: { S: 'c' } } } },
      'expected a Key of the key attributes and nothing else',
    ],
    ['an empty key of another table', { Delete: { TableName: 'x', Key: { id: { S: '' } } } }, 'expected a Key'],
  ])('that is %s is refused', (_what, operation, message) => {
    expect(() => new TestSession().add(operation as never)).toThrow(message);
  });

  it('says by name, and never by value, what stopped it', async () => {
    const id = fresh();
    await here.shop.of(Account).put({ id, balance: 1 });
    const handler = messageHandler<{ id: string }, { id: string }>({
      table: here.shop,
      consumer: id,
      from: fromInvocation({ id: bodyPath('id') }),
      maxAttempts: 1,
      handle: (_message, session) => {
        const Key = { pk: { S: `ACCOUNT#${id}` }, sk: { S: 'BALANCE' } };
        const Delete = { TableName: here.shop.name, Key, ConditionExpression: 'attribute_not_exists(pk)' };
        session.add({ Delete: { ...Delete, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } }, 'gone');
      },
    });
    const error = (await rejection(handler({ id }))) as Error & { failed: Record<string, { item: AttributeMap }> };
    expect(error.message).not.toContain(id);
    expect(error.failed['gone']?.item['balance']).toEqual({ N: '1' });
  });
});
