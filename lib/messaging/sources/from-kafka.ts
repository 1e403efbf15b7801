import { Buffer } from 'node:buffer';
import { invalid } from '../../commands/errors/errors.js';
import type { IdentityOf } from '../message/message.js';
import { checkSource, decoded, identified, membersOf, type MessageSource } from './source.js';

/**
 * A record of a Kafka event. Its partition and offset are left out on purpose: a producer that sends again and a retry
 * topic both give new ones.
 */
export interface KafkaRecord {
  /** Base64; null or absent in a tombstone. */
  readonly value?: string | null | undefined;
  readonly key?: string | null | undefined;
  /** Bytes as numbers, negative ones too. */
  readonly headers?: readonly Readonly<Record<string, readonly number[] | null>>[] | null | undefined;
}

/** What {@link fromKafka} takes. */
export interface FromKafka<M> {
  /** The message's identity, from what its producer chose; written after `decode`, it knows the body's type. */
  readonly id: IdentityOf<NoInfer<M>>;
  /** Decodes the value; undefined is a tombstone. @default as JSON, a tombstone as undefined */
  readonly decode?: (value: Uint8Array | undefined) => M;
}

const json = (value: Uint8Array | undefined): never =>
  (value === undefined ? undefined : JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(value))) as never;

/**
 * Messages of Kafka records, of MSK or a cluster of one's own. Of a header given twice, the last counts; one that is no
 * UTF-8 text counts as missing, so that a binary id is refused rather than taken for another. It sends nothing.
 *
 * @throws InvalidInputError without `id`; at a message UnreadableMessageError
 * @example const from = fromKafka<{ orderId: string }>({ id: headerId('message-id') });
 */
export const fromKafka = <M = unknown>(options: FromKafka<M>): MessageSource<KafkaRecord, M> => {
  checkSource(options);
  const { id, decode = json } = options;
  return {
    messageOf(record) {
      const { value, headers } = membersOf(record);
      const header = (name: string): string | undefined => {
        const found = (Array.isArray(headers) ? (headers as Headers) : []).findLast(
          (given) => typeof given === 'object' && given !== null && Object.hasOwn(given, name),
        )?.[name];
        return Array.isArray(found) ? textOf(Buffer.from(found)) : undefined;
      };
      return identified({ body: decoded(record, () => decode(bytesOf(value))), header }, id);
    },
  };
};

type Headers = readonly (Readonly<Record<string, readonly number[] | null>> | null)[];

const bytesOf = (value: unknown): Uint8Array | undefined => {
  if (value === null || value === undefined) return undefined;
  return typeof value === 'string' ? Buffer.from(value, 'base64') : invalid('value', 'expected base64');
};

/** Bytes that are no UTF-8 are no text: replaced, two ids would become one, and the second message would be lost. */
const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
};
