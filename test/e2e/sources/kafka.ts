import { Admin, Producer, type MessageToProduce } from '@platformatic/kafka';
import { inject } from 'vitest';
import type {} from './server.js';

const kafka = inject('kafka');

/** Why there is no broker; undefined where there is one. */
export const missing = 'missing' in kafka ? kafka.missing : undefined;

/** The broker of this run. */
export const brokers = 'brokers' in kafka ? kafka.brokers : [];

const bootstrapBrokers = [...brokers];
let topics = 0;

/** A topic of its own. */
export async function newTopic(partitions: number, settings: Readonly<Record<string, string>> = {}): Promise<string> {
  const topic = `topic-${process.pid}-${++topics}`;
  const admin = new Admin({ clientId: 'test-admin', bootstrapBrokers });
  const configs = Object.entries(settings).map(([name, value]) => ({ name, value }));
  await admin.createTopics({ topics: [topic], partitions, replicas: 1, configs });
  await admin.close();
  return topic;
}

/** A record that a test sends; without a value it is a tombstone. */
export interface Sent {
  readonly key?: string;
  readonly value?: string;
  readonly partition?: number;
  readonly timestamp?: number;
  readonly headers?: Readonly<Record<string, string | Uint8Array>>;
}

/** Sends records in their order, so many at once. */
export async function produce(topic: string, records: readonly Sent[], size = 500): Promise<void> {
  const producer = new Producer({ clientId: 'test-producer', bootstrapBrokers, idempotent: true });
  const messages = records.map(
    ({ key, value, partition, timestamp, headers = {} }): MessageToProduce<Buffer, Buffer, Buffer, Buffer> => ({
      topic,
      ...(key !== undefined && { key: Buffer.from(key) }),
      ...(value !== undefined && { value: Buffer.from(value) }),
      ...(partition !== undefined && { partition }),
      ...(timestamp !== undefined && { timestamp: BigInt(timestamp) }),
      headers: new Map(Object.entries(headers).map(([name, data]) => [Buffer.from(name), Buffer.from(data)])),
    }),
  );
  for (let i = 0; i < messages.length; i += size) {
    await producer.send({ acks: -1, messages: messages.slice(i, i + size) });
  }
  await producer.close();
}

/** What a group has committed in a topic, by partition. */
export async function committed(topic: string, groupId: string): Promise<Record<number, number>> {
  const admin = new Admin({ clientId: 'test-admin', bootstrapBrokers });
  const [group] = await admin.listConsumerGroupOffsets({ groups: [groupId] });
  await admin.close();
  const found = group?.topics.find(({ name }) => name === topic);
  return Object.fromEntries(
    (found?.partitions ?? []).map(({ partitionIndex, committedOffset }) => [partitionIndex, Number(committedOffset)]),
  );
}
