import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { fresh, testShop } from '../../support/recipe-shop.js';
import { Mail, User, usersOf } from './users.js';

// A cancellation may name a failed condition and a conflict at once: then nothing is known of what conflicted.
const db = testShop();
let users: ReturnType<typeof usersOf>;
beforeAll(() => {
  users = usersOf(db.shop);
});
afterEach(() => vi.restoreAllMocks());

/** The next transaction is cancelled with these reasons, after what `meanwhile` does. */
const cancelNext = (codes: readonly string[], meanwhile: () => Promise<unknown> = () => Promise.resolve()): void => {
  const send = db.client.send.bind(db.client) as (...given: unknown[]) => Promise<unknown>;
  let cancelled = false;
  vi.spyOn(db.client, 'send').mockImplementation((async (...given: [object, ...unknown[]]) => {
    if (cancelled || !('TransactItems' in (given[0] as { input: object }).input)) return send(...given);
    cancelled = true;
    await meanwhile();
    const CancellationReasons = codes.map((Code) => ({ Code }));
    throw Object.assign(new Error('cancelled'), { name: 'TransactionCanceledException', CancellationReasons });
  }) as never);
};

const person = () => {
  const id = fresh();
  return { id, email: `${id}@example.ch`, handle: `h-${id}` };
};
const ownerOf = async (address: string) => (await db.shop.of(Mail).get({ address }).consistent().item())?.owner;

test('a removal leaves no claim behind when the value changed in between', async () => {
  const [alice, bob, email] = [person(), person(), `${fresh()}@example.ch`];
  await users.register(alice);
  cancelNext(['ConditionalCheckFailed', 'None', 'TransactionConflict'], async () => {
    await users.change({ id: alice.id }, 'email', { from: alice.email, to: email });
    await users.register({ ...bob, email: alice.email });
  });
  expect(await users.remove({ id: alice.id })).toBe('Removed');
  expect(await db.shop.of(User).get({ id: alice.id }).consistent().item()).toBeUndefined();
  expect([await ownerOf(alice.email), await ownerOf(email)]).toEqual([bob.id, undefined]);
});

test('a change that was made before says so, also when its record is held at that moment', async () => {
  const alice = person();
  await users.register(alice);
  const change = { from: alice.handle, to: undefined };
  expect(await users.change({ id: alice.id }, 'handle', change)).toBe('Changed');
  cancelNext(['ConditionalCheckFailed', 'TransactionConflict']);
  expect(await users.change({ id: alice.id }, 'handle', change)).toBe('AlreadyChanged');
});
