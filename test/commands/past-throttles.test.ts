import { describe, expect, test } from 'vitest';
import { TransactionCanceledException } from '../../lib/commands/index.js';
import { pastThrottles } from '../../lib/commands/retry/past-throttles.js';
import { pastThrottlesOf, shareThrottles } from '../../lib/commands/retry/shared-throttles.js';

const throttled = (name = 'ThrottlingException') => Object.assign(new Error('too much'), { name });

describe('a batch whose requests are throttled', () => {
  test.each(['ThrottlingException', 'ProvisionedThroughputExceededException', 'RequestLimitExceeded'])(
    'sends again after %s',
    async (name) => {
      let runs = 0;
      const send = () => (++runs < 3 ? Promise.reject(throttled(name)) : Promise.resolve('done'));
      expect(await pastThrottles(undefined)(send)).toBe('done');
      expect(runs).toBe(3);
    },
  );

  const cancelled = (...codes: readonly string[]) =>
    Object.assign(throttled('TransactionCanceledException'), { CancellationReasons: codes.map((Code) => ({ Code })) });
  const ofSteps = new TransactionCanceledException({ a: { reason: 'ThrottlingError' } }, undefined);

  test.each([
    ['ThrottlingError of one item', cancelled('None', 'ThrottlingError')],
    ['both codes', cancelled('ProvisionedThroughputExceeded', 'ThrottlingError')],
    ['a named step', ofSteps],
  ])('sends a transaction again that was cancelled for %s', async (_name, error) => {
    let runs = 0;
    const send = () => (++runs < 3 ? Promise.reject(error) : Promise.resolve('done'));
    expect(await pastThrottlesOf(undefined)(send)).toBe('done');
    expect(runs).toBe(3);
  });

  test.each([
    ['another error', throttled('InternalServerError')],
    ['what is no error', 'ThrottlingException'],
    ['a transaction that was also cancelled for its condition', cancelled('ThrottlingError', 'ConditionalCheckFailed')],
    ['a transaction that met another', cancelled('TransactionConflict', 'ThrottlingError')],
    ['a transaction that says no reasons', cancelled()],
  ])('throws %s at once', async (_name, error) => {
    let runs = 0;
    const send = () => (runs++, Promise.reject(error));
    await expect(pastThrottlesOf(undefined)(send)).rejects.toBe(error);
    expect(runs).toBe(1);
  });

  test('has one allowance of retries where nothing succeeds', async () => {
    let runs = 0;
    const again = pastThrottles(undefined);
    const send = () => (runs++, Promise.reject(throttled()));
    const ends = await Promise.allSettled(Array.from({ length: 100 }, () => again(send)));
    expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
    expect(runs).toBe(150);
  });

  test('gets a retry again for each success', async () => {
    let runs = 0;
    const again = pastThrottles(undefined);
    const everySecond = () => (runs++ % 2 === 0 ? Promise.reject(throttled()) : Promise.resolve());
    for (let i = 0; i < 60; i++) await again(everySecond);
    expect(runs).toBe(120);
  });

  test('sends nothing again once the signal has aborted', async () => {
    const stop = new AbortController();
    let runs = 0;
    const send = () => {
      runs++;
      stop.abort();
      return Promise.reject(throttled());
    };
    await expect(pastThrottles(stop.signal)(send)).rejects.toThrow('too much');
    expect(runs).toBe(1);
  });

  test('sends nothing again where the signal aborts while it waits', async () => {
    const stop = new AbortController();
    let runs = 0;
    const send = () => {
      runs++;
      setImmediate(() => stop.abort());
      return Promise.reject(throttled());
    };
    // Waits are random: some end before the abort.
    const ends = Array.from({ length: 20 }, () => pastThrottles(stop.signal)(send));
    expect((await Promise.allSettled(ends)).every(({ status }) => status === 'rejected')).toBe(true);
    expect(runs).toBeLessThan(30);
  });

  test('shares its allowance with what is given its signal', async () => {
    const [near, signal] = [new AbortController().signal, new AbortController().signal];
    const again = shareThrottles(near, signal);
    let runs = 0;
    const send = () => (runs++, Promise.reject(throttled()));
    await Promise.allSettled(Array.from({ length: 20 }, () => again(() => pastThrottlesOf(signal)(send))));
    expect(runs).toBe(70);
  });

  test('has one of its own where no batch gave the signal', async () => {
    let runs = 0;
    const send = () => (runs++, Promise.reject(throttled()));
    await expect(pastThrottlesOf(new AbortController().signal)(send)).rejects.toThrow('too much');
    expect(runs).toBe(8);
  });
});
