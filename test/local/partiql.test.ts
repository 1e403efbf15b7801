import {
  BatchExecuteStatementCommand,
  ExecuteStatementCommand,
  ExecuteTransactionCommand,
} from '@aws-sdk/client-dynamodb';
import type { AttributeValue, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testDynamoDB } from '../support/dynamodb.js';
import type { TestDynamoDB } from '../support/dynamodb.js';
import { createTable, key, read, rejection } from './helpers.js';

let db: TestDynamoDB;
let table: string;

beforeAll(async () => {
  db = await testDynamoDB();
  table = await createTable(db.client);
});
afterAll(() => db.close());

const execute = async (
  Statement: string,
  Parameters?: AttributeValue[],
): Promise<Record<string, AttributeValue>[] | undefined> =>
  (await db.client.send(new ExecuteStatementCommand({ Statement, ...(Parameters ? { Parameters } : {}) }))).Items;

describe('PartiQL', () => {
  test('inserts values of every kind, once', async () => {
    const insert = (): Promise<unknown> =>
      execute(
        `INSERT INTO "${table}" VALUE {'pk': ?, 'sk': '-', 't': 'it''s', 'n': -1.5, 'b': true, 'z': null, 'l': [1, 'a'], 'm': {'x': 2}, 's': <<'a', 'b'>>}`,
        [{ S: 'kinds' }],
      );
    await insert();
    expect(await read(db.client, table, 'kinds')).toEqual({
      ...key('kinds'),
      t: { S: "it's" },
      n: { N: '-1.5' },
      b: { BOOL: true },
      z: { NULL: true },
      l: { L: [{ N: '1' }, { S: 'a' }] },
      m: { M: { x: { N: '2' } } },
      s: { SS: ['a', 'b'] },
    });
    expect((await rejection(insert())).name).toBe('DuplicateItemException');
  });

  test('updates and deletes by key and condition, and returns what was asked for', async () => {
    await execute(`INSERT INTO "${table}" VALUE {'pk': 'u', 'sk': '-', 'n': 1, 'm': {'x': 1}}`);
    const where = `WHERE pk = 'u' AND sk = '-'`;
    expect(
      await execute(`UPDATE "${table}" SET n = n + 2 SET m.x = ? REMOVE gone ${where} RETURNING ALL NEW *`, [
        { N: '5' },
      ]),
    ).toEqual([{ ...key('u'), n: { N: '3' }, m: { M: { x: { N: '5' } } } }]);
    const failed = await rejection(execute(`UPDATE "${table}" SET n = 9 ${where} AND n < 3`));
    expect(failed.name).toBe('ConditionalCheckFailedException');
    const absent = await rejection(execute(`UPDATE "${table}" SET n = 9 WHERE pk = 'nobody' AND sk = '-'`));
    expect(absent.name).toBe('ConditionalCheckFailedException');
    await execute(`DELETE FROM "${table}" ${where} AND n IN [3, 4]`);
    expect(await read(db.client, table, 'u')).toBeUndefined();
  });

  test('selects by key, range and filter', async () => {
    for (const sk of ['a1', 'a2', 'b1']) {
      await execute(`INSERT INTO "${table}" VALUE {'pk': 's', 'sk': ?, 'size': ?}`, [{ S: sk }, { N: sk.slice(1) }]);
    }
    const select = async (condition: string, what = 'sk'): Promise<unknown> =>
      (await execute(`SELECT ${what} FROM "${table}" WHERE pk = 's' AND ${condition}`))?.map((item) => item['sk']?.S);
    expect(await select(`begins_with(sk, 'a')`)).toEqual(['a1', 'a2']);
    expect(await select(`sk BETWEEN 'a2' AND 'b1'`)).toEqual(['a2', 'b1']);
    expect(await select(`"size" = 1`)).toEqual(['a1', 'b1']);
    expect(await select(`(sk = 'a1' OR sk = 'b1') AND NOT contains(sk, 'b')`)).toEqual(['a1']);
    expect(await select(`"size" IS NOT NULL AND NOT "size" IS NULL`)).toHaveLength(3);
    expect(await select(`nothing IS MISSING AND "size" IS NOT MISSING`, '*')).toEqual(['a1', 'a2', 'b1']);
    const scanned = await execute(`SELECT sk FROM "${table}" WHERE "size" > 1`);
    expect(scanned).toEqual([{ sk: { S: 'a2' } }]);
  });

  test('runs batches one by one and transactions as a whole', async () => {
    const insert = (pk: string): { Statement: string } => ({
      Statement: `INSERT INTO "${table}" VALUE {'pk': '${pk}', 'sk': '-'}`,
    });
    const { Responses } = await db.client.send(
      new BatchExecuteStatementCommand({ Statements: [insert('b1'), insert('b1'), insert('b2')] }),
    );
    expect(Responses?.map(({ Error }) => Error?.Code)).toEqual([undefined, 'DuplicateItem', undefined]);
    const error = await rejection<TransactionCanceledException>(
      db.client.send(new ExecuteTransactionCommand({ TransactStatements: [insert('b3'), insert('b2')] })),
    );
    expect(error.CancellationReasons?.map(({ Code }) => Code)).toEqual(['None', 'ConditionalCheckFailed']);
    expect(await read(db.client, table, 'b3')).toBeUndefined();
    const reads = await db.client.send(
      new ExecuteTransactionCommand({
        TransactStatements: ['b1', 'b3'].map((pk) => ({
          Statement: `SELECT * FROM "${table}" WHERE pk = '${pk}' AND sk = '-'`,
        })),
      }),
    );
    expect(reads.Responses).toEqual([{ Item: key('b1') }, {}]);
  });

  test.each([
    ['a broken statement', () => `SELEKT * FROM "${table}"`],
    ['an unfinished one', () => `SELECT * FROM "${table}" WHERE`],
    ['one that goes on', () => `DELETE FROM "${table}" WHERE pk = 'a' AND sk = 'b' nonsense`],
    ['a write without the whole key', () => `DELETE FROM "${table}" WHERE pk = 'a'`],
    ['too few parameters', () => `SELECT * FROM "${table}" WHERE pk = ?`],
  ])('refuses %s', async (_name, statement) => {
    expect((await rejection(execute(statement()))).name).toBe('ValidationException');
  });
});
