import { Buffer } from 'node:buffer';
import type { RelayedEvent } from '../../recipes/index.js';

/**
 * What targets are sent: a CloudEvent in its JSON form
 * (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md). `subject` is the aggregate,
 * `sequence` and `traceparent` are documented extensions.
 */
export interface CloudEvent<D = unknown> {
  readonly specversion: '1.0';
  /** What consumers deduplicate by, together with the source. */
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  /** ISO 8601, to the millisecond. */
  readonly time: string;
  /** Of an aggregate's events, the texts are in the order of the commits. */
  readonly sequence: string;
  readonly datacontenttype: 'application/json';
  readonly traceparent?: string;
  readonly data: D;
}

/**
 * A number of the outbox, or of a stream, which has up to 40 digits, so that texts compare as numbers do; and the event's
 * place among those of one transaction.
 */
const sequenceText = ({ sequence, position }: RelayedEvent): string =>
  `${String(sequence).padStart(typeof sequence === 'string' ? 40 : 16, '0')}.${String(position).padStart(5, '0')}`;

/** Noncharacters, which SQS takes in no form but escaped. */
const escaped = (text: string): string =>
  text.replace(/[\ufffe\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16)}`);

/** An event as text; its detail is JSON already, and is not parsed. */
export const cloudEventText = (event: RelayedEvent): string => {
  const { id, source, type, aggregate, time, traceparent, detail } = event;
  const attributes: Omit<CloudEvent, 'data'> = {
    specversion: '1.0',
    ...{ id, source, type, subject: aggregate, time: time.toISOString(), sequence: sequenceText(event) },
    datacontenttype: 'application/json',
    ...(traceparent !== undefined && { traceparent }),
  };
  return escaped(`${JSON.stringify(attributes).slice(0, -1)},"data":${detail}}`);
};

/** The attributes that messages of SNS and SQS carry beside their body, to filter by without parsing it. */
export const attributesOf = ({ id, type, source, traceparent }: RelayedEvent): [name: string, value: string][] => {
  const all: [string, string | undefined][] = [
    ['id', id],
    ['type', type],
    ['source', source],
    ['traceparent', traceparent],
  ];
  return all.filter((pair): pair is [string, string] => pair[1] !== undefined);
};

/** Bytes of a message of SNS or SQS: its body, and its attributes with their names and data types. */
export const messageBytes = (event: RelayedEvent): number => {
  let bytes = Buffer.byteLength(cloudEventText(event));
  for (const [name, value] of attributesOf(event)) bytes += name.length + 'String'.length + Buffer.byteLength(value);
  return bytes;
};

/**
 * The trace context in the form of X-Ray's header, which takes trace ids of W3C
 * (https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-tracingheader).
 */
export const xrayHeader = ({ traceparent }: RelayedEvent): string | undefined => {
  const [, trace = '', span = '', flags = ''] = traceparent?.split('-') ?? [];
  if (traceparent === undefined) return undefined;
  return `Root=1-${trace.slice(0, 8)}-${trace.slice(8)};Parent=${span};Sampled=${parseInt(flags, 16) & 1}`;
};
