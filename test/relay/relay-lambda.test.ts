import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { relayTarget } from '../../lambdas/relay/relay-target.js';
import { sweepAfterMs } from '../../lambdas/relay/sweep-after.js';

beforeEach(() => {
  vi.stubEnv('TABLE_NAME', 'shop');
  vi.stubEnv('AWS_REGION', 'eu-west-1');
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

describe('the function', () => {
  it('says what is missing where it has no table', async () => {
    vi.stubEnv('TABLE_NAME', '');
    await expect(import('../../lambdas/relay/index.js')).rejects.toThrow('TABLE_NAME is not set');
  });

  it.each([
    ['SAFEWRITES_EVENT_BUS_NAME', 'shop'],
    ['SAFEWRITES_TOPIC_ARN', 'arn:aws:sns:eu-west-1:111122223333:shop.fifo'],
    ['SAFEWRITES_QUEUE_URL', 'https://sqs.eu-west-1.amazonaws.com/111122223333/shop'],
  ])('exports a handler of two parameters where %s is set', async (variable, name) => {
    vi.stubEnv(variable, name);
    const { handler } = await import('../../lambdas/relay/index.js');
    expect(handler).toHaveLength(2);
    expect(await handler({ Records: [] })).toEqual({ batchItemFailures: [] });
  });
});

it('wants exactly one target', async () => {
  const message = 'Set exactly one of the environment variables SAFEWRITES_EVENT_BUS_NAME, SAFEWRITES_TOPIC_ARN';
  await expect(relayTarget({})).rejects.toThrow(message);
  const two = { SAFEWRITES_EVENT_BUS_NAME: 'shop', SAFEWRITES_QUEUE_URL: 'https://queue' };
  await expect(relayTarget(two)).rejects.toThrow(message);
});

it('sweeps after a minute, or as long as it is told', () => {
  expect(sweepAfterMs({})).toBe(60_000);
  expect(sweepAfterMs({ SAFEWRITES_SWEEP_AFTER_SECONDS: '5' })).toBe(5000);
  for (const value of ['soon', '-1', '0', 'Infinity'])
    expect(() => sweepAfterMs({ SAFEWRITES_SWEEP_AFTER_SECONDS: value })).toThrow('is no number of seconds');
});
