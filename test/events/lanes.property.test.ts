import fc from 'fast-check';
import { expect, test } from 'vitest';
import { batchHandler, json, kafkaMessages, sqsMessages } from '../../lib/events/index.js';
import { silent } from './support/events.js';
import { queue, shard, topic, type Source } from './support/sources.js';
import { turn } from './support/until.js';

const sources = {
  sqs: (sent) => queue(sent, false),
  fifo: (sent) => queue(sent, true),
  kafka: topic,
  stream: shard,
} satisfies Record<string, (sent: readonly { key: string; body: string }[]) => Source>;

const scenario = fc.record({
  kind: fc.constantFrom(...(Object.keys(sources) as (keyof typeof sources)[])),
  keys: fc.array(fc.constantFrom('a', 'bb', 'ccc', 'd', 'ee'), { minLength: 1, maxLength: 24 }),
  sizes: fc.array(fc.integer({ min: 1, max: 10 }), { minLength: 1, maxLength: 5 }),
  /** By call: whether it fails, and how long it takes. */
  calls: fc.array(fc.record({ fails: fc.boolean(), turns: fc.nat({ max: 2 }) }), { maxLength: 40 }),
  /** By batch: how many records can be begun before the deadline. */
  budgets: fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 10 }),
  concurrency: fc.integer({ min: 1, max: 6 }),
  partialResponses: fc.boolean(),
});

test('whatever fails, nothing is acknowledged that was not done, and each key keeps its order', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ kind, keys, sizes, calls, budgets, concurrency, partialResponses }) => {
      const sent = keys.map((key, i) => ({ key, body: String(i) }));
      const source = sources[kind](sent);
      const times = sent.map(() => 0);
      const firsts: number[] = [];
      let [call, begun, budget] = [0, 0, Infinity];
      const handler = batchHandler({
        ...silent,
        concurrency,
        partialResponses,
        deadlineMarginMs: 10,
        decode: {
          sqs: sqsMessages(json<number>()),
          kafka: kafkaMessages({ value: json<number>() }),
          stream: ({ dynamodb }) => ({ body: Number(dynamodb?.NewImage?.['body']?.S) }),
        },
        handle: async ({ body = -1 }) => {
          begun++;
          const { fails, turns } = calls[call++] ?? { fails: false, turns: 0 };
          for (let i = 0; i < turns; i++) await turn();
          if (fails) throw new Error('not now');
          if (times[body]!++ === 0) firsts.push(body);
        },
      });
      const acknowledged = new Set<number>();
      for (let batch = 0; source.left() > 0; batch++) {
        begun = 0;
        budget = budgets[batch] ?? Infinity;
        const context = { getRemainingTimeInMillis: () => (begun < budget ? 100_000 : 1) };
        const response = await handler(source.next(sizes[batch % sizes.length]!), context).catch(() => undefined);
        for (const i of source.answer(response)) {
          expect(times[i]).toBeGreaterThan(0);
          acknowledged.add(i);
        }
        if (batch > 500) throw new Error('no end');
      }
      expect(acknowledged.size).toBe(sent.length);
      // A queue that is told which failed delivers no other one again.
      if (partialResponses && (kind === 'sqs' || kind === 'fifo')) expect(times).toEqual(sent.map(() => 1));
      if (kind !== 'sqs') {
        for (const key of new Set(keys)) {
          const mine = firsts.filter((i) => keys[i] === key);
          expect(mine).toEqual(mine.toSorted((a, b) => a - b));
        }
      }
    }),
    { numRuns: 400 },
  );
});
