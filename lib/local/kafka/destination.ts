import { Buffer } from 'node:buffer';
import type { Producer } from '@platformatic/kafka';
import type { Discarded } from '../sources/mapping/failure-record.js';
import type { EventFrame, LocalKafkaRecord } from './kafka-event.js';
import { batchFailure, recordFailure } from './kafka-failure-record.js';
import type { SettledMapping } from './kafka-source-options.js';
import { loadKafka } from './load-kafka.js';

/** Takes records that are given up. */
export interface Destination {
  send(discarded: Discarded<LocalKafkaRecord>, frame: EventFrame): Promise<void>;
  close(): Promise<void>;
}

/** The failure destination of a mapping; without one, nothing is kept of such records. */
export const destinationOf = ({ destination, brokers, functionArn, clock }: SettledMapping): Destination => {
  if (typeof destination !== 'string') {
    return {
      send: async (discarded, frame) => destination?.(batchFailure(discarded, frame, functionArn, clock())),
      close: () => Promise.resolve(),
    };
  }
  let producer: Producer | undefined;
  const start = async (): Promise<Producer> => {
    const { Producer } = await loadKafka();
    return new Producer({ clientId: 'safewrites-on-failure', bootstrapBrokers: [...brokers], idempotent: true });
  };
  return {
    async send(discarded, frame) {
      producer ??= await start();
      await producer.send({
        // All replicas.
        acks: -1,
        messages: discarded.records.map((record) => ({
          topic: destination,
          ...(record.key !== undefined && { key: Buffer.from(record.key, 'base64') }),
          value: Buffer.from(JSON.stringify(recordFailure(record, discarded, frame, functionArn, clock()))),
        })),
      });
    },
    async close() {
      await producer?.close();
      producer = undefined;
    },
  };
};
