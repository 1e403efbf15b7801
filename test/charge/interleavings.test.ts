import { setImmediate as tick } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { chargeShop, json, order } from './charge-shop.js';

const calls = fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), startAfterTicks: fc.nat(10) }), {
  minLength: 1,
  maxLength: 16,
});

it('leaves one charge and one event per key, whatever the interleaving', async () => {
  const shop = await chargeShop();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(calls, async (all) => {
      const customerId = `run ${run++}`;
      const charge = async (key: string) => {
        // A client that is told to come back does.
        for (;;) {
          const result = await shop.charge({ key: `${run} ${key}`.replace(' ', '-'), body: { ...order, customerId } });
          if (result.statusCode !== 409) return json(result)['chargeId'];
        }
      };
      const answers = await Promise.all(
        all.map(async ({ key, startAfterTicks }) => {
          for (let i = 0; i < startAfterTicks; i++) await tick();
          return [key, await charge(key)] as const;
        }),
      );
      const charges = (await shop.charges()).filter((item) => item['customerId']?.S === customerId);
      const byKey = new Map(answers);
      expect(charges.map((item) => item['id']?.S).sort()).toEqual([...byKey.values()].sort());
      for (const [key, id] of answers) expect(id).toBe(byKey.get(key));
      expect(await shop.items('OUTBOX')).toHaveLength((await shop.charges()).length);
    }),
    { numRuns: 30 },
  );
}, 60_000);
