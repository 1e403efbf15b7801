// Does the function of one get and one update do so? It runs on the embedded table, as it was bundled.
import assert from 'node:assert/strict';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { createLocalDynamoDB } from '../../dist/esm/local/index.js';
import { createBenchTable, name } from '../load/table.mjs';

const db = await createLocalDynamoDB();
const client = new DynamoDBClient(db.clientConfig);
await createBenchTable(client, name);
const { endpoint } = await db.listen();
const credentials = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' };
Object.assign(process.env, credentials, { AWS_ENDPOINT_URL_DYNAMODB: endpoint, TABLE_NAME: name });
// With what each library stores for itself.
const at = '2026-01-01T00:00:00.000Z';
const types = { _type: 'ACCOUNT', _et: 'ACCOUNT', _ct: at, _md: at, __edb_e__: 'account', __edb_v__: '1' };
const named = Object.fromEntries(Object.entries(types).map(([attribute, S]) => [attribute, { S }]));
const { handler } = await import(process.argv[2]);
// electrodb writes keys in small letters.
for (const letters of [(text) => text, (text) => text.toLowerCase()]) {
  const Key = { pk: { S: letters('ACCOUNT#a') }, sk: { S: letters('BALANCE') } };
  await client.send(
    new PutItemCommand({ TableName: name, Item: { ...Key, ...named, id: { S: 'a' }, balance: { N: '100' } } }),
  );
}
const balances = async () => {
  const all = await Promise.all(
    ['ACCOUNT#a/BALANCE', 'account#a/balance'].map(async (key) => {
      const [pk, sk] = key.split('/');
      return (await client.send(new GetItemCommand({ TableName: name, Key: { pk: { S: pk }, sk: { S: sk } } }))).Item;
    }),
  );
  return all.map(({ balance }) => Number(balance.N)).sort((a, b) => a - b);
};
assert.deepEqual(await handler({ id: 'a', amount: 30 }), { ok: true });
assert.deepEqual(await balances(), [70, 100]);
assert.deepEqual(await handler({ id: 'nobody', amount: 30 }), { ok: false });
console.log('{}');
process.exit();
