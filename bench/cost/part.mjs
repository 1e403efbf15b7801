import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { table } from '../../dist/esm/commands/index.js';
import { createLocalDynamoDB } from '../../dist/esm/local/index.js';
import { bundledFunction } from '../lib/functions.mjs';
import { bench } from '../lib/paths.mjs';
import { markdown } from '../lib/table.mjs';
import { createBenchTable } from '../load/table.mjs';
import { chargeEvent, stateEvent } from './events.mjs';
import { powertoolsCharge, powertoolsIngest } from './powertools.mjs';

// Inside this package, so that the SDK is found.
const folder = join(bench, 'results', '.cost');
const name = 'bench';
const quiet = { log: () => undefined };

const imported = async (part) => import(await bundledFunction(folder, part));

/** Counts what DynamoDB is asked while something runs, at the wire. */
const counter = (db) => {
  const seen = [];
  db.onRequest((request) => seen.push(request));
  return async (run) => {
    seen.length = 0;
    await run().catch(() => undefined);
    const sum = (units) => seen.reduce((total, request) => total + request[units], 0);
    return { requests: seen.length, writeUnits: sum('writeUnits'), readUnits: sum('readUnits') };
  };
};

const cells = ({ requests, writeUnits, readUnits }) => [requests, writeUnits, readUnits].map(String);
const head = ['', 'requests', 'write units', 'read units'];

/** Requests and units, counted at the wire of the embedded table. */
export const cost = async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const db = await createLocalDynamoDB();
  try {
    const client = new DynamoDBClient(db.clientConfig);
    await createBenchTable(client, name);
    const count = counter(db);
    const { chargeHandler } = await imported('charge');
    const { ingestHandler } = await imported('ingest');
    const shop = table({ name, client });
    const context = { getRemainingTimeInMillis: () => 10_000, functionName: 'bench', awsRequestId: 'r' };
    const charge = chargeHandler(shop, quiet);
    const readFirst = chargeHandler(shop, { ...quiet, readFirst: true });
    const peer = powertoolsCharge(client, name);
    const charges = [
      ['safewrites', charge, 'a'],
      ['safewrites, `readFirst`', readFirst, 'b'],
      ['Powertools idempotency, the effect in a transaction of its own', peer, 'c'],
    ];
    const rows = [];
    for (const [side, handler, key] of charges) {
      const calls = [
        ['first call', chargeEvent(key, 100)],
        ['repeat', chargeEvent(key, 100)],
        ['the key again, with another body', chargeEvent(key, 200)],
      ];
      for (const [call, event] of calls) {
        rows.push([`${side}: ${call}`, ...cells(await count(() => handler(event, context)))]);
      }
    }
    const batches = [
      ['10 events of 10 keys', Array.from({ length: 10 }, (_, i) => ({ key: `a${i}`, n: 1 }))],
      ['10 events of 1 key, in order', Array.from({ length: 10 }, (_, i) => ({ key: 'b', n: i }))],
      ['the same again', Array.from({ length: 10 }, (_, i) => ({ key: 'b', n: i }))],
    ];
    const sides = [
      ['safewrites', ingestHandler(shop, { ...quiet, partialResponses: true }), ''],
      ['Powertools batch, a conditional update a record', powertoolsIngest(client, name), 'p'],
    ];
    const ingests = [];
    for (const [side, handler, prefix] of sides) {
      for (const [batch, events] of batches) {
        const event = stateEvent(events.map(({ key, n }) => ({ key: prefix + key, n })));
        ingests.push([`${side}: ${batch}`, ...cells(await count(() => handler(event, context)))]);
      }
    }
    const text = [
      "Counted on the embedded table, at the wire; units as AWS bills them, a transaction's twice, and those of a failed " +
        'condition too. The effect of a charge is the charge, a check of the customer and an event for the outbox; with ' +
        'Powertools it is not atomic with the idempotency record, however it is written.',
      `### A charge\n\n${markdown(head, rows)}`,
      `### A batch of events\n\n${markdown(head, ingests)}`,
    ].join('\n\n');
    return { title: 'Cost and round trips', text };
  } finally {
    await db.close();
    rmSync(folder, { recursive: true });
  }
};
