import { Buffer } from 'node:buffer';
import { poison } from '../poison/poison-record-error.js';

/** What a source holds: text in SQS, bytes in Kafka. */
export type Data = string | Uint8Array;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const textOf = (data: Data): string => {
  if (typeof data === 'string') return data;
  try {
    return utf8.decode(data);
  } catch {
    return poison('encoding', 'its bytes are no UTF-8');
  }
};

/**
 * Data as JSON, of any kind of value. The type is a claim, and nothing checks it. Numbers of more digits than a double has
 * lose them, as in `JSON.parse`: give such versions as text.
 *
 * @returns a format that throws PoisonRecordError of reason `json` or `encoding`
 * @example const decode = { sqs: sqsMessages(json<{ orderId: string }>()) };
 */
export const json =
  <T = unknown>() =>
  (data: Data): T => {
    const content = textOf(data);
    try {
      return JSON.parse(content) as T;
    } catch {
      return poison('json', 'it is no JSON');
    }
  };

/**
 * Data as text; bytes as UTF-8.
 *
 * @returns a format that throws PoisonRecordError of reason `encoding`
 * @example const decode = { kafka: kafkaMessages({ value: text() }) };
 */
export const text = () => textOf;

/**
 * Data as bytes; text as UTF-8.
 *
 * @example const decode = { kafka: kafkaMessages({ value: bytes(), key: bytes() }) };
 */
export const bytes =
  () =>
  (data: Data): Uint8Array =>
    typeof data === 'string' ? Buffer.from(data) : data;
