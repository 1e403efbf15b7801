import type { EventSource } from '../sources/event-source.js';
import { invokeHandler } from '../sources/mapping/invoke.js';
import { destinationOf } from './destination.js';
import { KafkaPoller } from './kafka-poller.js';
import { settledMapping, type KafkaSourceOptions, type KafkaMappingOptions } from './kafka-source-options.js';
import { loadKafka } from './load-kafka.js';

/**
 * Calls a function with the records of a topic of a real broker, as a Lambda event source mapping does: with
 * `@platformatic/kafka`, which is loaded here and nowhere else. At least once and in the order of each partition: an offset
 * is committed when all before it is done or given up, so that what was with the function when a process ended comes again.
 *
 * A batch that fails is tried again before anything newer of its poller. Reports, bisecting, attempts, age and destination
 * are those of provisioned mode; with a report each partition goes on from its lowest failed offset. After a rebalance the
 * count of attempts begins anew. A broker that goes away is waited for.
 *
 * @throws RangeError for settings that Lambda refuses; Error where the client is not installed
 * @example
 * const source = await kafkaSource({
 *   brokers: ['127.0.0.1:9092'],
 *   topic: 'orders',
 *   consumerGroupId: 'local',
 *   reportBatchItemFailures: true,
 *   handler: ({ records }: LocalKafkaEvent) => {
 *     console.log(Object.keys(records));
 *     return { batchItemFailures: [] };
 *   },
 * });
 * await source.drain(); // or start()
 * await source.stop();
 */
export const kafkaSource = ({ handler, ...options }: KafkaSourceOptions): Promise<EventSource> =>
  kafkaMapping({ ...options, invoke: invokeHandler(handler) });

/** {@link kafkaSource} for any way to call the function. */
export const kafkaMapping = async (options: KafkaMappingOptions): Promise<EventSource> => {
  const source = settledMapping(options);
  await loadKafka();
  const destination = destinationOf(source);
  const pollers = Array.from({ length: source.pollers }, (_, i) => {
    return new KafkaPoller(source, destination, `safewrites-${source.consumerGroupId}-${i}`);
  });
  return {
    start: () => pollers.forEach((poller) => poller.start()),
    async stop() {
      await Promise.all(pollers.map((poller) => poller.stop()));
      await destination.close();
    },
    async drain() {
      const calls = await Promise.all(pollers.map((poller) => poller.drain()));
      return calls.reduce((sum, count) => sum + count, 0);
    },
    nextDue() {
      const due = pollers.flatMap((poller) => poller.nextDue() ?? []);
      return due.length === 0 ? undefined : Math.min(...due);
    },
  };
};
