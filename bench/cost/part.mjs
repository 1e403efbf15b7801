import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { table } from '../../dist/esm/commands/index.js';
import { createLocalDynamoDB } from '../../dist/esm/local/index.js';
import { bundledFunction } from '../lib/functions.mjs';
import { bench } from '../lib/paths.mjs';
import { markdown } from '../lib/table.mjs';
import { createBenchTable, name } from '../load/table.mjs';
import { counting } from './counting.mjs';
import { handlers } from './handlers.mjs';
import { peers } from './peers.mjs';
import { calculator, comparison } from './prices.mjs';
import { recipes } from './recipes.mjs';

// Inside this package, so that the SDK is found.
const folder = join(bench, 'results', '.cost');

const imported = async (part) => import(await bundledFunction(folder, part));

const rowsOf = (counted) => {
  const withBus = counted.some(({ bus }) => bus !== undefined);
  const head = ['', 'requests', 'write units', 'read units', ...(withBus ? ['requests to the bus'] : [])];
  return markdown(
    head,
    counted.map(({ what, requests, writeUnits, readUnits, bus }) =>
      [what, requests, writeUnits, readUnits, ...(withBus ? [bus] : [])].map(String),
    ),
  );
};

/** Runs on an embedded table of its own. */
const onTable = async (run) => {
  const db = await createLocalDynamoDB();
  const client = new DynamoDBClient(db.clientConfig);
  try {
    await createBenchTable(client, name);
    return await run({ client, shop: table({ name, client }) }, counting(db));
  } finally {
    client.destroy();
    await db.close();
  }
};

/** Requests and units, counted at the wire of the embedded table. */
export const cost = async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    const { chargeHandler } = await imported('charge');
    const { ingestHandler } = await imported('ingest');
    const counts = {};
    for (const [title, counted] of Object.entries(handlers)) {
      counts[title] = await onTable((on, count) => counted({ ...on, chargeHandler, ingestHandler }, count));
    }
    for (const [title, counted] of Object.entries(recipes)) {
      counts[title] = await onTable(async ({ client, shop }, count) => [
        ...(await counted(shop, count)).map((row) => ({ ...row, what: `safewrites: ${row.what}` })),
        ...((await peers[title]?.(client, count)) ?? []),
      ]);
    }
    const text = [
      "Counted on the embedded table, at the wire; units as AWS bills them, a transaction's twice, and those of a failed " +
        'condition too. Items are of less than 1 KB. Each call is checked to end as its row says. The effect of a charge is ' +
        'the charge, a check of the customer and an event for the outbox; with Powertools it is not atomic with the ' +
        'idempotency record, however it is written. The peers of optimistic locking write without a transaction, as ' +
        '`repeatable` does: where a response is lost, their caller can not tell whether the change was made. What a peer has ' +
        'nothing for is not listed.',
      ...Object.entries(counts).map(([title, counted]) => `### ${title}\n\n${rowsOf(counted)}`),
    ].join('\n\n');
    return {
      title: 'Cost and round trips',
      text,
      taken: 0,
      tables: { 'cost-per-million': calculator(counts), 'cost-beside-powertools': comparison(counts) },
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
};
