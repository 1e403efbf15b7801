import { setImmediate as tick } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { entity, string } from '../../../lib/commands/index.js';
import { commit, fingerprintOf, idempotentTransaction, refuse } from '../../../lib/recipes/index.js';
import { meddle } from '../../http/meddle.js';
import { testTable } from '../../http/test-table.js';

const Effect = entity('EFFECT', { pk: 'EFFECT#{id}', sk: 'E', attributes: { id: string(), key: string() } });

const calls = fc.array(
  fc.record({
    key: fc.constantFrom('a', 'b', 'c'),
    startAfterTicks: fc.nat(12),
    refuses: fc.boolean(),
    readFirst: fc.boolean(),
  }),
  { minLength: 2, maxLength: 12 },
);
/** Which requests, by their number, lose their answer after they took effect. */
const lostAnswers = fc.uniqueArray(fc.nat(20), { maxLength: 6 });

it('leaves one answer per key, and its effect if it is one, whatever the interleaving and the answers lost', async () => {
  const shop = await testTable();
  let lost: readonly number[] = [];
  let sent = 0;
  meddle(shop.client, async (attempt) => {
    const loses = lost.includes(sent++);
    const answer = await attempt.send();
    if (loses && attempt.operation !== 'Scan') throw new Error('answer lost');
    return answer;
  });
  let run = 0;
  let ids = 0;
  await fc.assert(
    fc.asyncProperty(calls, lostAnswers, async (all, losing) => {
      run++;
      sent = 0;
      lost = losing;
      const start = (key: string, refuses: boolean, readFirst: boolean) =>
        idempotentTransaction(shop.table, {
          scope: `run ${run}`,
          route: 'r',
          key,
          fingerprint: fingerprintOf(1, [key]),
          horizonSeconds: 60,
          readFirst,
          run: () => {
            if (refuses) return refuse({ body: `refused ${ids++}` });
            const id = `e${ids++}`;
            return commit({ effect: shop.table.of(Effect).put({ id, key: `${run} ${key}` }) }, { body: id });
          },
        });
      const results = await Promise.all(
        all.map(async ({ key, startAfterTicks, refuses, readFirst }) => {
          for (let i = 0; i < startAfterTicks; i++) await tick();
          // A client that learns nothing calls again.
          for (;;) {
            try {
              return { key, ...(await start(key, refuses, readFirst)) };
            } catch (error) {
              expect(error).toHaveProperty('message', 'answer lost');
            }
          }
        }),
      );
      lost = [];
      const effects = await shop.items('EFFECT');
      for (const key of new Set(all.map((call) => call.key))) {
        const answers = results.flatMap((result) => (result.key === key ? (result.answer?.body ?? []) : []));
        const settled = (await start(key, true, false)).answer?.body;
        expect(new Set([...answers, settled]).size).toBe(1);
        const stored = effects.flatMap((item) => (item['key']?.S === `${run} ${key}` ? (item['id']?.S ?? []) : []));
        expect(stored).toEqual(settled?.startsWith('refused') === true ? [] : [settled]);
      }
    }),
    { numRuns: 40 },
  );
}, 60_000);
