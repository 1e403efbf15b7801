import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { kafkaSource, type KafkaSourceOptions } from '../../../lib/local/index.js';

const options: KafkaSourceOptions = {
  ...{ brokers: ['127.0.0.1:1'], topic: 'orders', consumerGroupId: 'g', handler: () => undefined },
};

test.each<[Partial<KafkaSourceOptions>, RegExp]>([
  [{ brokers: [] }, /brokers/],
  [{ topic: '' }, /topic/],
  [{ consumerGroupId: '' }, /consumerGroupId/],
  [{ batchSize: 0 }, /batchSize must be a whole number from 1 to 10000/],
  [{ batchSize: 1.5 }, /batchSize must be a whole number/],
  [{ maximumBatchingWindowInSeconds: 301 }, /maximumBatchingWindowInSeconds must be a whole number from 0 to 300/],
  [{ maximumRetryAttempts: -2 }, /maximumRetryAttempts must be a whole number from 0 to 10000/],
  [{ maximumRecordAgeInSeconds: 59 }, /maximumRecordAgeInSeconds must be a whole number from 60 to 604800/],
  [{ startingPosition: 'AT_TIMESTAMP' }, /startingPositionTimestamp/],
  [{ maximumBatchingWindowInSeconds: 0.5 }, /maximumBatchingWindowInSeconds/],
  [{ startingPositionTimestamp: new Date() }, /startingPositionTimestamp/],
  [{ onFailure: 'kafka://orders' }, /another topic/],
  [{ pollers: 0 }, /pollers/],
  [{ sessionTimeoutMs: Number.NaN }, /sessionTimeoutMs/],
])('refuses %o', async (wrong, message) => {
  await expect(kafkaSource({ ...options, ...wrong })).rejects.toThrow(message);
});

test('its client is loaded by nobody who does not poll', () => {
  const script = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier.startsWith('@platformatic/')) throw new Error('not installed');
        return next(specifier, context);
      },
    });
    const { kafkaSource } = await import('./lib/local/index.ts');
    const wanted = { brokers: ['127.0.0.1:1'], topic: 'orders', consumerGroupId: 'g', handler: () => undefined };
    console.log(await kafkaSource(wanted).catch(({ message }) => message));
  `;
  const output = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  expect(output.trim()).toBe('Kafka mappings need the package @platformatic/kafka 2: install it.');
});
