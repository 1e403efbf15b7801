/**
 * A process to kill: opens a data folder and writes without end. Worker w only ever raises the numbers of its own items:
 * by plain puts of `put-w`, and by transactions on `left-w` and `right-w`. It prints a line for each acknowledged write.
 */
import { writeSync } from 'node:fs';
import { createLocalDynamoDB } from '../../../lib/local/index.js';

const [dataDir, table, time, workers] = process.argv.slice(2) as [string, string, string, string];
const local = await createLocalDynamoDB({ dataDir, clock: () => Number(time) });

async function send<T>(operation: string, input: object): Promise<T> {
  const { response } = await local.requestHandler.handle({
    headers: { 'x-amz-target': `DynamoDB_20120810.${operation}` },
    body: JSON.stringify(input),
  });
  const text = Buffer.from(response.body).toString();
  if (response.statusCode !== 200) throw new Error(text);
  return JSON.parse(text) as T;
}
const key = (pk: string): object => ({ pk: { S: pk }, sk: { S: '-' } });

async function lastOf(pk: string): Promise<number> {
  const { Item } = await send<{ Item?: { n: { N: string } } }>('GetItem', { TableName: table, Key: key(pk) });
  return Number(Item?.n.N ?? 0);
}

async function work(worker: number): Promise<never> {
  let put = await lastOf(`put-${worker}`);
  let pair = await lastOf(`left-${worker}`);
  for (;;) {
    put += 1;
    await send('PutItem', { TableName: table, Item: { ...key(`put-${worker}`), n: { N: String(put) } } });
    writeSync(1, `put-${worker} ${put}\n`);
    pair += 1;
    const token = `${worker}-${pair}`;
    const Put = (pk: string): object => ({ Put: { TableName: table, Item: { ...key(pk), n: { N: String(pair) } } } });
    await send('TransactWriteItems', {
      ClientRequestToken: token,
      TransactItems: [Put(`left-${worker}`), Put(`right-${worker}`)],
    });
    writeSync(1, `left-${worker} ${pair}\n`);
  }
}

await Promise.all(Array.from({ length: Number(workers) }, (_, worker) => work(worker)));
