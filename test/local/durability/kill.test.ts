import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  TransactWriteItemsCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { build } from 'esbuild';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLocalDynamoDB } from '../../../lib/local/index.js';
import { createTable, key, read } from '../helpers.js';
import { streamsApi } from '../streams-api.js';

const KILLS = 100;
const WORKERS = 3;
/** Between kills the clock moves on, so that retention and new shards have their turn too. */
const STEP_MS = 13 * 60 * 60 * 1000;

let folder: string;
let script: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'local-dynamodb-'));
  // Inside node_modules, so that it finds its packages; bundled, so that it starts fast.
  script = join(import.meta.dirname, `../../../node_modules/.cache/local-dynamodb/writer-${process.pid}.mjs`);
  await build({
    entryPoints: [join(import.meta.dirname, 'writer.ts')],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
});
afterAll(async () => {
  await rm(script, { force: true });
  await rm(folder, { recursive: true, force: true });
});

/** Lets a writer run until it is killed, some milliseconds after its first acknowledged write. */
function runAndKill(dataDir: string, table: string, now: number, afterMs: number): Promise<Map<string, number>> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, dataDir, table, String(now), String(WORKERS)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (output === '') setTimeout(() => child.kill('SIGKILL'), afterMs);
      output += text;
    });
    child.on('close', (_code, signal) => {
      if (signal !== 'SIGKILL') reject(new Error(`The writer ended by itself: ${output.slice(-500)}`));
      const acknowledged = new Map<string, number>();
      for (const line of output.split('\n').slice(0, -1)) {
        const [pk, n] = line.split(' ') as [string, string];
        acknowledged.set(pk, Number(n));
      }
      resolve(acknowledged);
    });
  });
}

test(`${KILLS} kills lose no acknowledged write and leave no half transaction`, { timeout: 240_000 }, async () => {
  const dataDir = join(folder, 'data');
  let now = Date.now();
  const opened = async <T>(
    use: (client: DynamoDBClient, api: ReturnType<typeof streamsApi>) => Promise<T>,
  ): Promise<T> => {
    const local = await createLocalDynamoDB({ dataDir, clock: () => now });
    try {
      return await use(new DynamoDBClient({ ...local.clientConfig }), streamsApi(local));
    } finally {
      await local.close();
    }
  };
  const table = await opened(async (client) => {
    const name = await createTable(client, {
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
    });
    const TimeToLiveSpecification = { AttributeName: 'expires', Enabled: true };
    await client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
    return name;
  });

  const names = ['put', 'left', 'right'].flatMap((kind) => Array.from({ length: WORKERS }, (_, w) => `${kind}-${w}`));
  let before = new Map<string, number>(names.map((name) => [name, 0]));
  let acknowledgedWrites = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const acknowledged = await runAndKill(dataDir, table, now, Math.random() * 60);
    before = await opened(async (client, api) => {
      const found = new Map<string, number>();
      for (const name of names) {
        const n = Number((await read(client, table, name))?.['n']?.N ?? 0);
        found.set(name, n);
        const told = acknowledged.get(name.replace('right', 'left')) ?? before.get(name)!;
        acknowledgedWrites += told - before.get(name)!;
        // What was told is there; at most the one write under way may be there untold.
        expect(n, `${name} after kill ${kill}`).toBeGreaterThanOrEqual(told);
        expect(n, `${name} after kill ${kill}`).toBeLessThanOrEqual(told + 1);
      }
      for (let w = 0; w < WORKERS; w += 1) expect(found.get(`left-${w}`)).toBe(found.get(`right-${w}`));

      const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
      const streamed = new Map<string, number[]>(names.map((name) => [name, []]));
      for (const { dynamodb } of await api.all(Table!.LatestStreamArn!)) {
        streamed.get(dynamodb.Keys['pk']!.S!)!.push(Number(dynamodb.NewImage!['n']!.N));
      }
      for (const [name, numbers] of streamed) {
        // Each write has its record, once and in order; older ones may have been trimmed.
        const since = numbers.filter((n) => n > before.get(name)!);
        const wanted = Array.from(
          { length: found.get(name)! - before.get(name)! },
          (_, i) => before.get(name)! + i + 1,
        );
        expect(since, `records of ${name} after kill ${kill}`).toEqual(wanted);
        expect([...numbers].sort((a, b) => a - b)).toEqual(numbers);
      }
      const ttl = await client.send(new DescribeTimeToLiveCommand({ TableName: table }));
      expect(ttl.TimeToLiveDescription?.TimeToLiveStatus).toBe('ENABLED');

      // The token of a transaction of this round that was kept answers its repeat.
      const pair = found.get('left-0')!;
      if (pair > before.get('left-0')!) {
        const Put = (pk: string): object => ({
          Put: { TableName: table, Item: { ...key(pk), n: { N: String(pair) } } },
        });
        const repeat = await client.send(
          new TransactWriteItemsCommand({
            ClientRequestToken: `0-${pair}`,
            ReturnConsumedCapacity: 'TOTAL',
            TransactItems: [Put('left-0'), Put('right-0')],
          }),
        );
        expect(repeat.ConsumedCapacity?.[0]?.ReadCapacityUnits).toBe(4);
      }
      return found;
    });
    now += STEP_MS;
  }
  expect(acknowledgedWrites).toBeGreaterThan(KILLS * 10);
});
