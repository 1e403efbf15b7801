import { describe, expect, it, vi } from 'vitest';
import {
  ConditionalCheckFailedException,
  InvalidInputError,
  TransactionCanceledException,
  retryOnConflict,
} from '../../lib/commands/index.js';

const named = (name: string, members: object = {}): Error => Object.assign(new Error(name), { name, ...members });
const cancelled = (...codes: string[]): Error =>
  named('TransactionCanceledException', { CancellationReasons: codes.map((Code) => ({ Code })) });
const own = (...reasons: string[]): Error =>
  new TransactionCanceledException(
    Object.fromEntries(reasons.map((reason, i) => [`s${i}`, { reason: reason as never }])),
    undefined,
  );

/** How often a function runs that fails with an error each time. */
const runs = async (error: unknown, options?: Parameters<typeof retryOnConflict>[1]): Promise<number> => {
  const fn = vi.fn(() => Promise.reject(error as Error));
  await expect(retryOnConflict(fn, { maxAttempts: 3, ...options })).rejects.toBe(error);
  return fn.mock.calls.length;
};

describe('retryOnConflict()', () => {
  it.each<[string, unknown, number, number]>([
    ['a failed condition', named('ConditionalCheckFailedException'), 3, 1],
    ['a failed condition of the kit', new ConditionalCheckFailedException({}, undefined, 'X', undefined), 3, 1],
    ['a transaction in the way', named('TransactionConflictException'), 3, 3],
    ['a transaction that met another', cancelled('None', 'TransactionConflict'), 3, 3],
    ['a transaction of the kit that met another', own('TransactionConflict'), 3, 3],
    ['a transaction whose condition failed', cancelled('ConditionalCheckFailed'), 3, 1],
    ['a transaction with both', cancelled('TransactionConflict', 'ConditionalCheckFailed'), 3, 1],
    ['a transaction of the kit with both', own('ConditionalCheckFailed', 'TransactionConflict'), 3, 1],
    ['a throttled transaction', cancelled('ThrottlingError', 'None'), 1, 1],
    ['a transaction without reasons', named('TransactionCanceledException'), 1, 1],
    ['a throttle', named('ProvisionedThroughputExceededException'), 1, 1],
    ['another error', new Error('x'), 1, 1],
    ['no error', 'x', 1, 1],
    ['undefined', undefined, 1, 1],
  ])('on %s runs again for any conflict, or only for a transaction', async (_, error, any, transaction) => {
    expect(await runs(error)).toBe(any);
    expect(await runs(error, { on: 'transactionConflict' })).toBe(transaction);
  });

  it('gives the result of the run that succeeds', async () => {
    const fn = vi.fn(({ run }: { run: number }) =>
      run < 3 ? Promise.reject(named('TransactionConflictException')) : Promise.resolve(run),
    );
    expect(await retryOnConflict(fn)).toBe(3);
  });

  it('takes a function that throws at once like one that rejects', async () => {
    let n = 0;
    const result = await retryOnConflict(() => {
      if (++n === 1) throw named('TransactionConflictException');
      return Promise.resolve(n);
    });
    expect(result).toBe(2);
  });

  it('waits a random part of a bound that doubles', async () => {
    const elapsed = async (random: number): Promise<number> => {
      vi.spyOn(Math, 'random').mockReturnValue(random);
      const start = performance.now();
      await runs(named('TransactionConflictException'), { maxAttempts: 4 });
      vi.restoreAllMocks();
      return performance.now() - start;
    };
    expect(await elapsed(0)).toBeLessThan(100);
    expect(await elapsed(0.999)).toBeGreaterThan((50 + 100 + 200) * 0.9);
  });

  it('refuses options that mean nothing', async () => {
    const never = () => Promise.resolve();
    for (const options of [{ maxAttempts: 0 }, { maxAttempts: 1.5 }, { maxAttempts: NaN }, { on: 'never' }]) {
      await expect(retryOnConflict(never, options as never)).rejects.toThrow(InvalidInputError);
    }
  });

  it('hands its signal to each run, and stops between runs when it aborts', async () => {
    const controller = new AbortController();
    const reason = new Error('stop');
    const fn = vi.fn(({ signal }: { signal: AbortSignal | undefined }) => {
      expect(signal).toBe(controller.signal);
      controller.abort(reason);
      return Promise.reject(named('TransactionConflictException'));
    });
    const error = await retryOnConflict(fn, { signal: controller.signal }).catch((caught: unknown) => caught as Error);
    expect(error).toBeInstanceOf(Error);
    expect([error, error.cause]).toContain(reason);
    expect(fn).toHaveBeenCalledTimes(1);
  });

  it('does not run at all with a signal that has aborted', async () => {
    const fn = vi.fn(() => Promise.resolve());
    await expect(retryOnConflict(fn, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
    expect(fn).not.toHaveBeenCalled();
  });
});
