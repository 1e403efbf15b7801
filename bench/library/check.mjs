// `check.mjs <side>`: does a side do the job that the others do? Its requests run on the embedded table, and what they leave
// must be what those written by hand leave; what it reads must be the order. What a library stores for itself is its own.
import assert from 'node:assert/strict';
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { createLocalDynamoDB } from '../../dist/esm/local/index.js';
import { createBenchTable, name } from '../load/table.mjs';
import * as hand from './attribute-values.mjs';
import { item, page, storedKey } from './order.mjs';
import { sent } from './stub.mjs';

const own = new Set(['_type', '_et', '_ct', '_md', '__edb_e__', '__edb_v__', 'entity', 'created', 'modified']);
const without = (stored, ...others) =>
  Object.fromEntries(Object.entries(stored).filter(([member]) => !own.has(member) && !others.includes(member)));

const db = await createLocalDynamoDB();
const client = new DynamoDBClient(db.clientConfig);
await createBenchTable(client, name);
const Key = { pk: { S: storedKey.pk }, sk: { S: storedKey.sk } };
const stored = async () => (await client.send(new GetItemCommand({ TableName: name, Key }))).Item;
const inputOf = async (made) => {
  const command = await made;
  return command.input ?? command;
};
const put = async (side) => {
  const { TableName, Item } = await inputOf(side.put());
  await client.send(new PutItemCommand({ TableName, Item }));
  return stored();
};
/** The update of an order whose total is that: undefined where its condition does not hold. */
const updated = async (input, total) => {
  const { Item } = await inputOf(hand.put());
  await client.send(new PutItemCommand({ TableName: name, Item: { ...Item, total: { N: String(total) } } }));
  try {
    await client.send(new UpdateItemCommand(input));
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
  return stored();
};

const side = await import(`./${process.argv[2]}.mjs`);
assert.deepEqual(without(await put(side)), without(await put(hand)), 'the put');
await side.send();
const overTheWire = JSON.parse(Buffer.from(sent.body).toString());
for (const input of [await inputOf(side.update()), overTheWire]) {
  const { input: by } = hand.update();
  assert.deepEqual(without(await updated(input, 4)), without(await updated(by, 4)), 'the update');
  assert.equal(await updated(input, 5), undefined, 'the condition of the update');
}
side.reads?.();
const read = await side.parse();
const orders = Array.from(read.data ?? read, (order) => without({ ...order }, 'pk', 'sk'));
assert.deepEqual(orders, Array(page).fill(item), 'the read');
await db.close();
console.log('{}');
