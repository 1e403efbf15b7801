import { describe, expect, test } from 'vitest';
import { pastThrottles } from '../../lib/commands/retry/past-throttles.js';

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

  test('throws anything else at once', async () => {
    let runs = 0;
    const send = () => (runs++, Promise.reject(throttled('InternalServerError')));
    await expect(pastThrottles(undefined)(send)).rejects.toThrow('too much');
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
});
