import { randomUUID } from 'node:crypto';

/** An entry of PutEvents. */
export interface PutEventsEntry {
  readonly Source?: string;
  readonly DetailType?: string;
  readonly Detail?: string;
  readonly EventBusName?: string;
  readonly Resources?: readonly string[];
  /** Epoch seconds. */
  readonly Time?: number;
}

/** An event as rules and their targets see it (https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-events-structure.html). */
export interface LocalBusEvent {
  readonly version: '0';
  readonly id: string;
  readonly 'detail-type': string;
  readonly source: string;
  readonly account: string;
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: unknown;
}

/** A refusal of a whole call. */
export interface Refusal {
  readonly type: string;
  readonly message: string;
}

/** An entry that is taken, or why it is not. */
export type ReadEntry =
  | { readonly bus: string; readonly event: LocalBusEvent }
  | { readonly ErrorCode: string; readonly ErrorMessage: string };

const maxBytes = 1024 * 1024;

/** Reads a call of PutEvents by its limits (https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html). */
export function readPutEvents(input: unknown, now: number): Refusal | ReadEntry[] {
  const entries = (input as { Entries?: unknown } | null)?.Entries;
  if (!Array.isArray(entries) || entries.length < 1 || entries.length > 10) {
    return { type: 'ValidationException', message: 'Entries must have 1 to 10 members.' };
  }
  const given = entries as readonly PutEventsEntry[];
  if (given.reduce((sum, entry) => sum + entryBytes(entry), 0) >= maxBytes) {
    return { type: 'ValidationException', message: 'Total size of the entries in the request is over the limit.' };
  }
  if (given.every(({ Source, DetailType, Detail }) => !Source && !DetailType && !Detail)) {
    return { type: 'ValidationException', message: 'Each entry needs Source, DetailType and Detail.' };
  }
  return given.map((entry) => readEntry(entry, now));
}

function readEntry(entry: PutEventsEntry, now: number): ReadEntry {
  const { Source, DetailType, Detail, EventBusName = 'default', Resources = [], Time } = entry;
  for (const [name, value] of Object.entries({ Source, DetailType, Detail })) {
    if (value === undefined || value === '') {
      return {
        ErrorCode: 'InvalidArgument',
        ErrorMessage: `Parameter ${name} is not valid. Reason: ${name} is a required argument.`,
      };
    }
  }
  let detail: unknown;
  try {
    detail = JSON.parse(Detail!);
  } catch {
    detail = undefined;
  }
  if (typeof detail !== 'object' || detail === null || Array.isArray(detail)) {
    return { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' };
  }
  const at = Time === undefined ? now : Time * 1000;
  return {
    bus: EventBusName.split('/').at(-1)!,
    event: {
      version: '0',
      id: randomUUID(),
      'detail-type': DetailType!,
      source: Source!,
      account: '000000000000',
      time: new Date(at).toISOString().replace(/\.\d{3}Z$/, 'Z'),
      region: 'us-east-1',
      resources: Resources,
      detail,
    },
  };
}

const entryBytes = ({ Time, Source = '', DetailType = '', Detail = '', Resources = [] }: PutEventsEntry): number =>
  [Source, DetailType, Detail, ...Resources].reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    Time === undefined ? 0 : 14,
  );
