import { Buffer } from 'node:buffer';
import { checkFunction, checkObject } from '../../recipes/arguments.js';
import { poison } from '../poison/poison-record-error.js';
import type { KafkaEventRecord } from '../sources/kafka-event.js';
import type { Decoder } from './decoder.js';
import { text } from './formats.js';

/** A record of a topic, decoded. */
export interface KafkaMessage<T, K = string> {
  readonly source: 'kafka';
  /** Undefined in a tombstone: a record without value. */
  readonly body: T | undefined;
  /** Undefined in a record without key; an empty one is a key. */
  readonly key: K | undefined;
  readonly topic: string;
  readonly partition: number;
  /** Orders the records of one partition, and no others. */
  readonly offset: number;
  /** The text of a header; of one given twice, the last. */
  header(name: string): string | undefined;
  /** The bytes of a header. */
  headerBytes(name: string): Uint8Array | undefined;
  readonly record: KafkaEventRecord;
}

/** What {@link kafkaMessages} takes. */
export interface KafkaFormats<T, K> {
  /**
   * Decodes the value: `json()`, `text()`, `bytes()`, or a function of yours, such as a schema's of Avro or Protobuf. What
   * it throws makes the record poison. It is not called for a tombstone.
   */
  readonly value: (bytes: Uint8Array, record: KafkaEventRecord) => T | Promise<T>;
  /** Decodes the key. @default text() */
  readonly key?: (bytes: Uint8Array, record: KafkaEventRecord) => K | Promise<K>;
}

const fromBase64 = (data: string | null | undefined): Uint8Array | undefined => {
  if (data === undefined || data === null) return undefined;
  if (typeof data !== 'string') return poison('encoding', 'its key or value is no base64');
  const decoded = Buffer.from(data, 'base64');
  // The decoder skips what is no base64.
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  if (data.length % 4 === 1 || decoded.length !== Math.floor((data.length * 3) / 4) - padding)
    poison('encoding', 'its key or value is no base64');
  return decoded;
};

/** A header's bytes; Java's are from -128 on. */
const headerOf = ({ headers }: KafkaEventRecord, name: string): Buffer | undefined => {
  const found = (headers ?? []).findLast((given) => Object.hasOwn(given, name))?.[name];
  return found === undefined || found === null ? undefined : Buffer.from(found);
};

/**
 * Records of Kafka topics, of MSK or a cluster of one's own. It costs nothing.
 *
 * @example
 * const handler = batchHandler({
 *   decode: { kafka: kafkaMessages({ value: json<{ orderId: string }>() }) },
 *   handle: ({ key, body }) => console.log(body === undefined ? 'gone' : body.orderId === key),
 * });
 */
export const kafkaMessages = <T, K = string>(
  formats: KafkaFormats<T, K>,
): Decoder<KafkaEventRecord, KafkaMessage<T, K>> => {
  const { value, key = text() as never } = checkObject(
    formats,
    'kafkaMessages',
    'expected formats, such as { value: json() }',
  );
  checkFunction(value, 'value');
  checkFunction(key, 'key');
  const decoded = async <V>(
    data: string | null | undefined,
    record: KafkaEventRecord,
    format: (bytes: Uint8Array, record: KafkaEventRecord) => V | Promise<V>,
  ): Promise<V | undefined> => {
    const found = fromBase64(data);
    return found === undefined ? undefined : await format(found, record);
  };
  return {
    decode: async (record) => {
      const { topic, partition, offset } = record;
      return {
        source: 'kafka',
        body: await decoded(record.value, record, value),
        key: await decoded(record.key, record, key),
        topic,
        partition,
        offset,
        header: (name) => headerOf(record, name)?.toString(),
        headerBytes: (name) => headerOf(record, name),
        record,
      };
    },
  };
};
