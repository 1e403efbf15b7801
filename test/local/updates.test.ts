import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { AttributeValue, UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testDynamoDB } from '../support/dynamodb.js';
import type { TestDynamoDB } from '../support/dynamodb.js';
import { createTable, key, rejection } from './helpers.js';

let db: TestDynamoDB;
let table: string;

beforeAll(async () => {
  db = await testDynamoDB();
  table = await createTable(db.client);
});
afterAll(() => db.close());

const put = (pk: string, item: Record<string, AttributeValue>): Promise<unknown> =>
  db.client.send(new PutItemCommand({ TableName: table, Item: { ...key(pk), ...item } }));

/** Updates an item and gives what it is then, without its key. */
async function update(
  pk: string,
  UpdateExpression: string,
  extra: Partial<UpdateItemCommandInput> = {},
): Promise<Record<string, AttributeValue>> {
  const { Attributes } = await db.client.send(
    new UpdateItemCommand({ TableName: table, Key: key(pk), UpdateExpression, ReturnValues: 'ALL_NEW', ...extra }),
  );
  const { pk: _pk, sk: _sk, ...rest } = Attributes!;
  return rest;
}

describe('list elements', () => {
  const letters = (text: string): AttributeValue => ({ L: [...text].map((S) => ({ S })) });

  test.each([
    ['REMOVE l[0], l[1]', 'cd'],
    ['REMOVE l[2], l[0], l[1]', 'd'],
    ['SET l[1] = :x REMOVE l[0]', 'xcd'],
    ['REMOVE l[0] SET l[1] = :x', 'xcd'],
    ['SET l[9] = :x REMOVE l[0], l[3]', 'bcx'],
    ['SET l[9] = :x, l[7] = :y', 'abcdyx'],
    ['REMOVE l[7]', 'abcd'],
  ])('%s names elements of the list as it was', async (expression, left) => {
    await put('list', { l: letters('abcd') });
    const used = [':x', ':y'].filter((name) => expression.includes(name));
    const values = Object.fromEntries(used.map((name) => [name, { S: name.slice(1) }]));
    const extra = used.length > 0 ? { ExpressionAttributeValues: values } : {};
    expect(await update('list', expression, extra)).toEqual({ l: letters(left) });
  });

  test('of lists in lists and maps too', async () => {
    await put('nested', { l: { L: [letters('ab'), { M: { l: letters('cde') } }, letters('f')] } });
    expect(await update('nested', 'REMOVE l[0], l[1].l[0], l[1].l[1], l[2][0]')).toEqual({
      l: { L: [{ M: { l: letters('e') } }, { L: [] }] },
    });
  });
});

describe('an attribute named as what every JavaScript object has', () => {
  test.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    '%s is only where it was written',
    async (name) => {
      const named = { ExpressionAttributeNames: { '#n': name } };
      const values = { ExpressionAttributeValues: { ':one': { N: '1' }, ':zero': { N: '0' } } };
      await put(name, { note: { S: 'x' } });
      const absent = { ...named, ...values, ConditionExpression: 'attribute_not_exists(#n)' };
      const written = { note: { S: 'x' }, [name]: { N: '1' } };
      expect(await update(name, 'SET #n = if_not_exists(#n, :zero) + :one', absent)).toEqual(written);
      expect((await rejection(update(name, 'SET #n = :zero + :one', absent))).name).toBe(
        'ConditionalCheckFailedException',
      );
      expect(
        await update(`${name}-added`, 'ADD #n :one', { ...named, ExpressionAttributeValues: { ':one': { N: '1' } } }),
      ).toEqual({
        [name]: { N: '1' },
      });
      expect((await rejection(update(`${name}-none`, 'SET note = #n', named))).message).toBe(
        'The provided expression refers to an attribute that does not exist in the item',
      );
    },
  );
});
