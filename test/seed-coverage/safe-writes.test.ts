// The samples and caveats of the document "Safe writes" that no test of a recipe shows; see docs/seed-coverage.md.
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  calendarDate,
  entity,
  instant,
  integer,
  retryOnConflict,
  string,
  stringSet,
  timestamp,
  toTimestamp,
  transactWrite,
  uuid,
  version,
} from '../../lib/commands/index.js';
import { WindowedCounter } from '../../lib/recipes/index.js';
import { fresh, testShop } from '../support/recipe-shop.js';

const db = testShop();

describe('Optimistic locking', () => {
  const Plain = entity('PLAIN', {
    pk: 'PLAIN#{id}',
    sk: 'BALANCE',
    attributes: { id: string(), balance: integer() },
  });
  const Account = entity('ACCOUNT', {
    pk: 'ACCOUNT#{id}',
    sk: 'BALANCE',
    attributes: { id: string(), balance: integer(), revision: version() },
  });

  test('two writers of an entity without version() both succeed, and the second undoes the first', async () => {
    const accounts = db.shop.of(Plain);
    const id = fresh();
    await accounts.put({ id, balance: 0 });
    const [one, two] = [await accounts.get({ id }).item(), await accounts.get({ id }).item()];
    await accounts.put({ ...one!, balance: one!.balance + 10 });
    await accounts.put({ ...two!, balance: two!.balance + 5 });
    expect(await accounts.get({ id }).item()).toEqual({ id, balance: 5 });
  });

  test('nothing retries a conflict by itself', async () => {
    const accounts = db.shop.of(Account);
    const id = fresh();
    await accounts.put({ id, balance: 0 });
    db.operations();
    await expect(accounts.put({ id, balance: 1 }).send()).rejects.toThrow(ConditionalCheckFailedException);
    await expect(transactWrite(db.shop, { account: accounts.put({ id, balance: 1 }) }).send()).rejects.toThrow(
      TransactionCanceledException,
    );
    expect(db.operations()).toEqual(['PutItem', 'TransactWriteItems']);
  });

  test('of n writers that each write once, each needs at most n runs', async () => {
    const accounts = db.shop.of(Account);
    const id = fresh();
    await accounts.put({ id, balance: 0 });
    const n = 10;
    await Promise.all(
      Array.from({ length: n }, () =>
        retryOnConflict(
          async () => {
            const account = await accounts.get({ id }).consistent().item();
            await accounts.put({ ...account!, balance: account!.balance + 10 });
          },
          { maxAttempts: n },
        ),
      ),
    );
    expect(await accounts.get({ id }).item()).toEqual({ id, balance: 10 * n, revision: n + 1 });
  });
});

describe('Uniqueness constraints, written out', () => {
  const Registrant = entity('REGISTRANT', {
    pk: 'USER#{id}',
    sk: 'REGISTRATION',
    attributes: { id: string(), email: string(), handle: string() },
  });
  const MailClaim = entity('MAIL_CLAIM', {
    pk: 'MAIL#{address}',
    sk: 'CLAIM',
    attributes: { address: string(), owner: string() },
  });
  const HandleClaim = entity('HANDLE_CLAIM', {
    pk: 'HANDLE#{handle}',
    sk: 'CLAIM',
    attributes: { handle: string(), owner: string() },
  });

  const register = (user: { id: string; email: string; handle: string }): Promise<string> =>
    retryOnConflict(
      async () => {
        try {
          await transactWrite(db.shop, {
            email: db.shop.of(MailClaim).unique({ address: user.email, owner: user.id }),
            handle: db.shop.of(HandleClaim).unique({ handle: user.handle, owner: user.id }),
            user: db.shop.of(Registrant).put(user).ifNotExists(),
          }).send();
          return 'Done';
        } catch (error) {
          if (!(error instanceof TransactionCanceledException)) throw error;
          if (error.failed['email']?.reason === 'ConditionalCheckFailed') return 'EmailTaken';
          if (error.failed['handle']?.reason === 'ConditionalCheckFailed') return 'HandleTaken';
          throw error;
        }
      },
      { on: 'transactionConflict' },
    );

  test('the names of the steps tell which value is taken', async () => {
    const user = { id: fresh(), email: fresh(), handle: fresh() };
    expect(await register(user)).toBe('Done');
    expect(await register({ ...user, id: fresh(), handle: fresh() })).toBe('EmailTaken');
    expect(await register({ ...user, id: fresh(), email: fresh() })).toBe('HandleTaken');
  });

  test('a failed condition that is no answer surfaces at once', async () => {
    const user = { id: fresh(), email: fresh(), handle: fresh() };
    await register(user);
    db.operations();
    await expect(register({ ...user, email: fresh(), handle: fresh() })).rejects.toMatchObject({
      failed: { user: { reason: 'ConditionalCheckFailed' } },
    });
    expect(db.operations()).toEqual(['TransactWriteItems']);
  });

  test('a change releases the old claim on condition that the user holds it', async () => {
    const [claims, users] = [db.shop.of(MailClaim), db.shop.of(Registrant)];
    const [id, from, to] = [fresh(), fresh(), fresh()];
    await register({ id, email: from, handle: fresh() });
    const change = (owner: string) =>
      transactWrite(db.shop, {
        old: claims.delete({ address: from }).if(MailClaim.attrs.owner.eq(owner)),
        new: claims.unique({ address: to, owner }),
        user: users.update({ id }).set({ email: to }),
      }).trySend();
    expect(await change('somebody else')).toMatchObject({ failed: { old: { reason: 'ConditionalCheckFailed' } } });
    expect(await change(id)).toEqual({ committed: true });
    expect(await claims.get({ address: from }).item()).toBeUndefined();
    expect(await claims.get({ address: to }).item()).toEqual({ address: to, owner: id });
    expect((await users.get({ id }).item())?.email).toBe(to);
  });
});

describe('Events that arrive out of order, written out', () => {
  const Match = entity('LIVE_MATCH', {
    pk: 'MATCH#{id}',
    sk: 'LIVE',
    attributes: {
      id: string(),
      homeGoals: integer().default(0),
      scoreAt: timestamp().optional(),
      status: string().optional(),
      statusAt: timestamp().optional(),
    },
  });
  const [first, second] = [toTimestamp('2026-12-01T10:00:00Z'), toTimestamp('2026-12-01T10:00:01Z')];

  test('each group keeps its own time: a late score never undoes a newer status, nor the other way round', async () => {
    const matches = db.shop.of(Match);
    const id = fresh();
    const score = (homeGoals: number, scoreAt: typeof first) =>
      matches
        .update({ id })
        .set({ homeGoals, scoreAt })
        .if(Match.attrs.scoreAt.notExistsOrLt(scoreAt))
        .returnOldOnFailure()
        .trySend();
    const status = (text: string, statusAt: typeof first) =>
      matches
        .update({ id })
        .set({ status: text, statusAt })
        .if(Match.attrs.statusAt.notExistsOrLt(statusAt))
        .returnOldOnFailure()
        .trySend();
    // An item that does not exist yet passes, and so does one that has a status and no score yet.
    expect(await status('LIVE', second)).toEqual({ conditionMet: true });
    expect(await score(1, first)).toEqual({ conditionMet: true });
    expect(await status('WARM-UP', first)).toMatchObject({ conditionMet: false, item: { statusAt: second } });
    expect(await score(1, first)).toMatchObject({ conditionMet: false, item: { scoreAt: first } });
    expect(await score(2, second)).toEqual({ conditionMet: true });
    expect(await matches.get({ id }).item()).toEqual({
      id,
      homeGoals: 2,
      scoreAt: second,
      status: 'LIVE',
      statusAt: second,
    });
  });

  test('notExistsOrLe() writes a duplicate again, and can not tell it from an applied event', async () => {
    const matches = db.shop.of(Match);
    const id = fresh();
    const apply = () =>
      matches
        .update({ id })
        .set({ homeGoals: 1, scoreAt: first })
        .if(Match.attrs.scoreAt.notExistsOrLe(first))
        .trySend();
    expect(await apply()).toEqual({ conditionMet: true });
    expect(await apply()).toEqual({ conditionMet: true });
  });

  test('one event of two groups, its conditions joined by and(), is blocked by a newer value of one', async () => {
    const matches = db.shop.of(Match);
    const id = fresh();
    await matches.update({ id }).set({ status: 'LIVE', statusAt: second });
    const { scoreAt, statusAt } = Match.attrs;
    const both = await matches
      .update({ id })
      .set({ homeGoals: 1, scoreAt: first, status: 'WARM-UP', statusAt: first })
      .if(scoreAt.notExistsOrLt(first).and(statusAt.notExistsOrLt(first)))
      .trySend();
    expect(both.conditionMet).toBe(false);
    expect((await matches.get({ id }).item())?.scoreAt).toBeUndefined();
  });

  test('a delete lets a late event bring the item back', async () => {
    const matches = db.shop.of(Match);
    const id = fresh();
    await matches.put({ id, homeGoals: 3, scoreAt: second });
    await matches.delete({ id });
    const late = matches.update({ id }).set({ homeGoals: 1, scoreAt: first });
    expect(await late.if(Match.attrs.scoreAt.notExistsOrLt(first)).trySend()).toEqual({ conditionMet: true });
    expect((await matches.get({ id }).item())?.homeGoals).toBe(1);
  });
});

describe('Counters, written out', () => {
  const DailyTally = entity('DAILY', {
    pk: 'DAILY#{name}',
    sk: 'DAY#{day}',
    attributes: { name: string(), day: calendarDate(), count: integer(), seen: stringSet() },
  });

  test('a full window fails every further write with a ValidationException', async () => {
    const key = { name: fresh(), day: '2026-12-01' };
    const { count, seen } = DailyTally.attrs;
    const add = (id: string) =>
      db.shop.of(DailyTally).update(key).add(count, 1).add(seen, [id]).if(seen.contains(id).negate()).send();
    await add('x'.repeat(204_000));
    await add('y'.repeat(204_000));
    await expect(add('z'.repeat(2000))).rejects.toMatchObject({ name: 'ValidationException' });
    expect((await db.shop.of(DailyTally).get(key).item())?.count).toBe(2);
  });

  test('a window by the time of arrival counts a retry across midnight twice', async () => {
    const counter = new WindowedCounter(db.shop, { name: fresh() });
    expect(await counter.count({ id: 'a', at: new Date('2026-12-01T23:59:59Z') })).toBe('Counted');
    expect(await counter.count({ id: 'a', at: new Date('2026-12-02T00:00:01Z') })).toBe('Counted');
  });
});

describe('Transactional outbox, written out', () => {
  const Payment = entity('PAYMENT', { pk: 'PAYMENT#{id}', sk: 'STATE', attributes: { id: string() } });
  const OutboxEvent = entity('OUTBOX_EVENT', {
    pk: 'OUTBOX_EVENTS',
    sk: '{at}#{eventId}',
    attributes: { at: instant(), eventId: uuid(), paymentId: string() },
  });

  const pay = (id: string, at: Date) =>
    transactWrite(db.shop, {
      payment: db.shop.of(Payment).put({ id }).ifNotExists(),
      event: db.shop.of(OutboxEvent).put({ at, eventId: randomUUID(), paymentId: id }),
    }).trySend();
  /** Reads in time order, publishes each and deletes it; `stopAt` stops it between the two. */
  const relay = async (publish: (id: string) => void, stopAt?: string): Promise<void> => {
    const outbox = db.shop.of(OutboxEvent);
    for (const pending of await outbox.query({}).consistent().all()) {
      publish(pending.paymentId);
      if (pending.paymentId === stopAt) return;
      await outbox.deleteItem(pending);
    }
  };

  test('a relay publishes in time order what was committed, and again where it stopped before its delete', async () => {
    const [one, two] = [fresh(), fresh()];
    expect((await pay(two, new Date(2000))).committed).toBe(true);
    expect((await pay(one, new Date(1000))).committed).toBe(true);
    expect((await pay(one, new Date(3000))).committed).toBe(false);
    const published: string[] = [];
    await relay((id) => published.push(id), two);
    expect(published).toEqual([one, two]);
    await relay((id) => published.push(id));
    await relay((id) => published.push(id));
    expect(published).toEqual([one, two, two]);
  });
});
