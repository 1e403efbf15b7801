import { describe, expect, it } from 'vitest';
import { LimitExceededError, TransactionCanceledException, conditionCheck } from '../../../../lib/commands/index.js';
import { commit, fingerprintOf, idempotentLease, type Lease, type LeasedCall } from '../../../../lib/recipes/index.js';
import { cancelled, loseAnswer, meddle } from '../../../http/meddle.js';
import { testTable } from '../../../http/test-table.js';
import { Payment, callOf, pay, payCall, stored } from './pay.js';
import { FakeProvider } from './provider.js';

describe('the answer', () => {
  it('that does not fit is refused, and the effect is not done again', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(false);
    const call = (body: string) => ({
      ...payCall(shop.table, provider, 'p1'),
      run: async (lease: Lease) => {
        await lease.effect('charge', { keySeconds: 0 }, ({ providerKey }) => provider.charge('p1', providerKey));
        return { body };
      },
    });
    const failure = idempotentLease(shop.table, call('x'.repeat(409_600)));
    await expect(failure).rejects.toThrow(LimitExceededError);
    await expect(failure).rejects.toThrow(/^answer: does not fit the record that keeps it; /);
    expect(await idempotentLease(shop.table, call('short'))).toMatchObject({ outcome: 'committed' });
    expect(provider.charges).toHaveLength(1);
  });

  it('and its steps meet a conflict: the run is made again, the effect not', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(false);
    let conflicts = 2;
    meddle(shop.client, (attempt) =>
      attempt.operation === 'TransactWriteItems' && conflicts-- > 0
        ? Promise.reject(cancelled('None', 'TransactionConflict'))
        : attempt.send(),
    );
    expect(await pay(shop.table, provider, 'p1')).toMatchObject({ outcome: 'committed' });
    expect(provider.charges).toHaveLength(1);
  });

  it('that meets conflicts without end is left to the next call, which goes on after the effect', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(false);
    let conflicts = true;
    meddle(shop.client, (attempt) =>
      attempt.operation === 'TransactWriteItems' && conflicts
        ? Promise.reject(cancelled('TransactionConflict', 'None'))
        : attempt.send(),
    );
    expect(await pay(shop.table, provider, 'p1', { maxAttempts: 2 })).toMatchObject({
      outcome: 'inProgress',
      retryAfterSeconds: 1,
    });
    conflicts = false;
    expect(await pay(shop.table, provider, 'p1')).toMatchObject({ answer: { body: 'charge-0 of attempt 2' } });
    expect(provider.charges).toHaveLength(1);
  });

  it('of a transaction that was committed unheard is the first one, whatever a second run would say', async () => {
    const shop = await testTable();
    let runs = 0;
    let lose = true;
    meddle(shop.client, async (attempt) => {
      const sent = await attempt.send();
      if (attempt.operation !== 'TransactWriteItems' || !lose) return sent;
      lose = false;
      throw cancelled('TransactionConflict', 'None');
    });
    const call = callOf(() =>
      commit({ payment: shop.table.of(Payment).put({ id: 'p1', charge: 'c' }) }, { body: `run ${++runs}` }),
    );
    expect(await idempotentLease(shop.table, call)).toMatchObject({ outcome: 'committed', answer: { body: 'run 1' } });
  });

  it('is a stored refusal where a step decides so, and thrown where nobody does', async () => {
    const shop = await testTable();
    const provider = new FakeProvider(false);
    const call = (decides: boolean) =>
      callOf(async (lease) => {
        await lease.effect('charge', { keySeconds: 0 }, ({ providerKey }) => provider.charge('k1', providerKey));
        const payment = conditionCheck(shop.table.of(Payment), { id: 'p1' }).ifExists();
        return commit(
          { payment },
          { status: 201 },
          decides ? (failed) => failed.payment && { status: 409 } : undefined,
        );
      });
    await expect(idempotentLease(shop.table, call(false))).rejects.toThrow(TransactionCanceledException);
    expect(await idempotentLease(shop.table, call(true))).toMatchObject({
      outcome: 'refused',
      answer: { status: 409 },
    });
    expect(await idempotentLease(shop.table, call(false))).toMatchObject({ outcome: 'replayed' });
    expect(provider.charges).toHaveLength(1);
  });

  it('is frozen, and of the call that was made, whatever the run does to its input', async () => {
    const shop = await testTable();
    const answer = { body: 'first' };
    const call: LeasedCall = callOf(() => {
      Object.assign(call, { key: 'other', horizonSeconds: 1 });
      Object.assign(call.fingerprint, { hash: 'other' });
      return answer;
    });
    meddle(shop.client, (attempt) => {
      if (attempt.operation === 'PutItem' && attempt.body['Item'] !== undefined) answer.body = 'changed';
      return attempt.send();
    });
    answer.body = 'first';
    await idempotentLease(shop.table, call);
    expect(await stored(shop, 'k1')).toMatchObject({ fingerprint: fingerprintOf(1, ['k1']).hash });
    expect(await shop.items('IDEMPOTENCY')).toHaveLength(1);
  });

  it('whose response was lost is known again', async () => {
    const shop = await testTable();
    loseAnswer(shop.client, 'TransactWriteItems');
    expect(await pay(shop.table, new FakeProvider(true), 'p1')).toMatchObject({
      outcome: 'committed',
      replayed: false,
    });
  });
});
