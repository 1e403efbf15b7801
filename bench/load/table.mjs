import { fork } from 'node:child_process';
import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { wire } from './wire.mjs';

export const name = 'bench';

export const createBenchTable = (client, TableName) =>
  client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: ['HASH', 'RANGE'].map((KeyType, i) => ({ AttributeName: i === 0 ? 'pk' : 'sk', KeyType })),
    }),
  );

const server = join(import.meta.dirname, 'server.mjs');

/** A table in a process of its own, behind a wire that counts and, once `delayMs` is set, takes its time. */
export const localTable = async () => {
  const child = fork(server, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const asked = new Map();
  let asks = 0;
  child.on('message', ({ id, answer }) => {
    asked.get(id)(answer);
    asked.delete(id);
  });
  const ask = (name, given) =>
    new Promise((resolve) => {
      const id = asks++;
      asked.set(id, resolve);
      child.send({ id, ask: name, ...given });
    });
  const region = 'eu-west-1';
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const endpoint = await ask('endpoint');
  const connect = (config) => {
    const client = new DynamoDBClient({ region, credentials, endpoint, ...config });
    const line = wire(client.config.requestHandler);
    client.config.requestHandler = line.requestHandler;
    return { client, line };
  };
  const { client, line } = connect();
  await createBenchTable(client, name);
  const close = () => {
    client.destroy();
    child.disconnect();
  };
  return { client, line, connect, ask, close };
};
