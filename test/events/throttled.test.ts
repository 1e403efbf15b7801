import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import { entity, integer, string, table, type Table } from '../../lib/commands/index.js';
import {
  batchHandler,
  PoisonRecordError,
  type BatchEvent,
  type BatchHandler,
  type BatchOptions,
} from '../../lib/events/index.js';
import type { Faults, LocalFault } from '../../lib/local/index.js';
import { messageHandler, messageId } from '../../lib/messaging/index.js';
import { testTable } from '../http/test-table.js';
import { embedded } from '../support/dynamodb.js';
import { kafkaEvent, silent, sqsEvent, streamEvent } from './support/events.js';
import { kafka, sqs } from './support/match-events.js';
import { matchShop } from './support/matches.js';

const Seen = entity('SEEN', { pk: 'SEEN#{id}', sk: 'SEEN', attributes: { id: string(), times: integer() } });

const throttled: LocalFault = { at: 'before', error: 'Throttling' };
const cancelled: LocalFault = { at: 'before', error: 'TransactionThrottled' };
const ids = Array.from({ length: 24 }, (_, i) => String(i + 1));

/** A source that brings all from the reported place on again. */
const sources = {
  stream: (rest: readonly string[]): BatchEvent =>
    streamEvent(...rest.map((sequence) => ({ pk: sequence, sequence, kind: 'INSERT' as const }))),
  kafka: (rest: readonly string[]): BatchEvent => kafkaEvent(...rest.map((id) => ({ offset: Number(id), key: id }))),
};

const idOf = {
  stream: (record: { readonly dynamodb?: { readonly SequenceNumber?: string | undefined } | undefined }) =>
    record.dynamodb?.SequenceNumber ?? '',
  kafka: ({ offset }: { readonly offset: number }) => String(offset),
};

/** Handles ids, by a function of them. */
const handlerOf = (handle: (id: string, signal: AbortSignal) => Promise<unknown>, options: BatchOptions = {}) =>
  batchHandler({
    ...silent,
    ...options,
    partialResponses: true,
    decode: idOf,
    handle: async (id, { signal }) => {
      await handle(id, signal);
    },
  });

const writes = (shop: Table): BatchHandler =>
  handlerOf(async (id, signal) => shop.of(Seen).update({ id }).set({ times: 1 }).send({ signal }));

/** Messages whose handler reads, and counts how often each has its effect. */
const messages = (shop: Table): BatchHandler => {
  const handler = messageHandler({
    table: shop,
    consumer: 'seen',
    from: { messageOf: (id: string) => ({ id: messageId(id), body: id, header: () => undefined }) },
    handle: async ({ body: id }, session) => {
      const seen = await shop.of(Seen).get({ id }).consistent().item();
      session.add(shop.of(Seen).put({ id, times: (seen?.times ?? 0) + 1 }));
    },
  });
  return handlerOf((id, signal) => handler(id, { signal }));
};

/** Repeatable numbers from 0 to 1 (https://en.wikipedia.org/wiki/Xorshift). */
const random = (seed: number) => (): number => {
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  return (seed >>> 0) / 2 ** 32;
};

/** A table whose requests meet faults, through a client that leaves every retry to the handler. */
const faultyTable = async (faults: Faults) => {
  let [on, requests] = [false, 0];
  const here = await testTable({
    faults: (request) => {
      if (!on) return undefined;
      requests++;
      return faults(request);
    },
  });
  const { region, endpoint, credentials, requestHandler } = here.client.config;
  const client = new DynamoDBClient({
    ...{ region, credentials, requestHandler, maxAttempts: 1 },
    ...(endpoint && { endpoint }),
  });
  on = true;
  return { here, shop: table({ name: here.table.name, client }), requests: () => requests };
};

describe.runIf(embedded)('a table that throttles half of its requests', () => {
  test.each([
    { source: 'stream', name: 'writes', make: writes, most: 4, fault: throttled },
    { source: 'kafka', name: 'writes', make: writes, most: 4, fault: throttled },
    { source: 'stream', name: 'messages', make: messages, most: 10, fault: throttled },
    { source: 'kafka', name: 'messages', make: messages, most: 10, fault: cancelled },
  ] as const)('brings no $source back almost whole: $name, at most $most requests each', async (given) => {
    const { source, make, most, fault } = given;
    const next = random(7);
    const { here, shop, requests } = await faultyTable(() => (next() < 0.5 ? fault : undefined));
    const handler = make(shop);
    let rest = ids;
    for (let delivery = 0; delivery < 100 && rest.length > 0; delivery++) {
      const [first] = (await handler(sources[source](rest))).batchItemFailures;
      const from = first?.itemIdentifier;
      rest = from === undefined ? [] : rest.slice(rest.indexOf(typeof from === 'string' ? from : String(from.offset)));
    }
    expect(rest).toEqual([]);
    expect(requests() / ids.length).toBeLessThan(most);
    expect((await here.items('SEEN')).map(({ times }) => times?.N)).toEqual(ids.map(() => '1'));
  });
});

describe.runIf(embedded)('a table that throttles everything', () => {
  test.each([
    ['writes', writes, throttled],
    ['messages', messages, cancelled],
  ] as const)('is asked once for each record, and for the allowance of the batch: %s', async (_name, make, fault) => {
    let refused = 0;
    const { shop } = await faultyTable(({ operation }) => (operation === 'GetItem' ? undefined : (refused++, fault)));
    const answer = await make(shop)(sources.stream(ids));
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: '1' }] });
    expect(refused).toBeLessThanOrEqual(ids.length + 50);
  });
});

describe('a record whose handler was throttled', () => {
  const tooMuch = (): Error => Object.assign(new Error('too much'), { name: 'ThrottlingException' });
  const twice = () => {
    let runs = 0;
    return () => (++runs < 3 ? Promise.reject(tooMuch()) : Promise.resolve());
  };

  test('is handled again, decoded anew', async () => {
    const seen: object[] = [];
    const handle = twice();
    const handler = batchHandler({
      ...silent,
      partialResponses: true,
      decode: { kafka: () => ({ clean: true }) },
      handle: async (message) => {
        expect(message).toEqual({ clean: true });
        message.clean = false;
        seen.push(message);
        await handle();
      },
    });
    expect(await handler(sources.kafka(['1']))).toEqual({ batchItemFailures: [] });
    expect(new Set(seen).size).toBe(3);
  });

  test('is not handled again once the deadline is near', async () => {
    let runs = 0;
    const handler = handlerOf(() => (runs++, Promise.reject(tooMuch())), { deadlineMarginMs: 1000 });
    const context = { getRemainingTimeInMillis: () => (runs === 0 ? 1001 : 0) };
    expect((await handler(sources.stream(['1']), context)).batchItemFailures).toHaveLength(1);
    expect(runs).toBeLessThanOrEqual(2);
  });

  test('goes to its failure destination though that was throttled', async () => {
    const handler = handlerOf(() => Promise.reject(new PoisonRecordError('content', 'not now')), {
      failureDestination: twice(),
    });
    expect(await handler(sources.stream(['1']))).toEqual({ batchItemFailures: [] });
  });
});

describe.runIf(embedded)('an ingest whose own functions were throttled', () => {
  test('calls onOutcome again, with the same outcome', async () => {
    const outcomes: string[] = [];
    const shop = await matchShop({
      onOutcome: ({ outcome }) => {
        outcomes.push(outcome);
        if (outcomes.length < 3) throw Object.assign(new Error('too much'), { name: 'ThrottlingException' });
      },
    });
    const answer = await shop.ingest(kafkaEvent(kafka(4, 'a', { goals: 1, at: 1 })));
    expect(answer).toEqual({ batchItemFailures: [] });
    expect(outcomes).toEqual(['Applied', 'Applied', 'Applied']);
  });

  test('calls the failure destination again', async () => {
    let calls = 0;
    const shop = await matchShop({
      failureDestination: () => {
        if (++calls < 3) throw Object.assign(new Error('too much'), { name: 'RequestLimitExceeded' });
      },
    });
    const answer = await shop.ingest(sqsEvent({ ...sqs('1', 'a', { goals: 1, at: 1 }), body: 'no JSON' }));
    expect(answer).toEqual({ batchItemFailures: [] });
    expect(calls).toBe(3);
  });
});
