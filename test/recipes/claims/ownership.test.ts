import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { fresh, testShop } from '../../support/recipe-shop.js';
import { Handle, Mail, User, usersOf } from './users.js';

const db = testShop();
let users: ReturnType<typeof usersOf>;
beforeAll(() => {
  users = usersOf(db.shop);
});

const person = fc.constantFrom('ann', 'bob', 'cat');
const mail = fc.constantFrom('a@x', 'A@x', 'b@x', 'c@x');
const handle = fc.constantFrom('h1', 'h2', undefined);
const action = fc.oneof(
  fc.record({ kind: fc.constant('register' as const), person, mail, handle, lost: fc.boolean() }),
  fc.record({ kind: fc.constant('mail' as const), person, from: mail, to: mail, lost: fc.boolean() }),
  fc.record({ kind: fc.constant('handle' as const), person, from: handle, to: handle, lost: fc.boolean() }),
  fc.record({ kind: fc.constant('remove' as const), person, lost: fc.boolean() }),
);

test('any interleaving leaves each value with at most one owner, and each owner with its claims', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(action, { minLength: 1, maxLength: 4 }), { maxLength: 6 }), async (rounds) => {
      const scope = fresh();
      const of = <V extends string | undefined>(value: V) => (value === undefined ? value : `${scope}-${value}`) as V;
      const options = { maxAttempts: 100 };
      for (const round of rounds) {
        const run = async (step: (typeof round)[number]): Promise<unknown> => {
          try {
            return await act(step);
          } catch (error) {
            // The client gave up retrying: the caller does not know, and does it again.
            if (String(error).includes('lost')) return run({ ...step, lost: false });
            throw error;
          }
        };
        const act = (step: (typeof round)[number]): Promise<unknown> => {
          const id = of(step.person);
          if (step.lost) db.loseResponseOf('TransactWriteItems');
          if (step.kind === 'register') {
            return users.register({ id, email: of(step.mail), handle: of(step.handle) }, options);
          }
          if (step.kind === 'remove') return users.remove({ id }, options);
          const values = { from: of(step.from), to: of(step.to) };
          return step.kind === 'mail'
            ? users.change({ id }, 'email', values as { from: string; to: string }, options)
            : users.change({ id }, 'handle', values, options);
        };
        await Promise.all(round.map(run));
      }
      const claims = new Map<string, string | undefined>();
      for (const address of ['a@x', 'b@x', 'c@x']) {
        claims.set(
          address,
          (
            await db.shop
              .of(Mail)
              .get({ address: of(address) })
              .item()
          )?.owner,
        );
      }
      for (const name of ['h1', 'h2']) {
        claims.set(
          name,
          (
            await db.shop
              .of(Handle)
              .get({ handle: of(name) })
              .item()
          )?.owner,
        );
      }
      const held = new Map<string, string>();
      for (const name of ['ann', 'bob', 'cat']) {
        const user = await db.shop
          .of(User)
          .get({ id: of(name) })
          .item();
        if (user === undefined) continue;
        held.set(user.email.toLowerCase().slice(scope.length + 1), user.id);
        if (user.handle !== undefined) held.set(user.handle.slice(scope.length + 1), user.id);
      }
      expect(new Map([...claims].filter(([, owner]) => owner !== undefined))).toEqual(
        new Map([...held].sort(([a], [b]) => (a < b ? -1 : 1))),
      );
    }),
    { numRuns: 80 },
  );
}, 60_000);
