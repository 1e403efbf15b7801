import { randomUUID } from 'node:crypto';

/** An entry of PutEvents. */
export interface PutEventsEntry {
  readonly Source?: string | null;
  readonly DetailType?: string | null;
  readonly Detail?: string | null;
  readonly EventBusName?: string | null;
  readonly Resources?: readonly string[] | null;
  /** Epoch seconds. */
  readonly Time?: number | null;
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
  const entries = (input as { readonly Entries?: unknown } | null)?.Entries;
  if (!Array.isArray(entries) || entries.length < 1 || entries.length > 10) {
    return { type: 'ValidationException', message: 'Entries must have 1 to 10 members.' };
  }
  if (!entries.every(isEntry)) {
    return { type: 'SerializationException', message: 'An entry has a member of another type than PutEvents takes.' };
  }
  const given: readonly PutEventsEntry[] = entries;
  if (given.reduce((sum, entry) => sum + entryBytes(entry), 0) >= maxBytes) {
    return { type: 'ValidationException', message: 'Total size of the entries in the request is over the limit.' };
  }
  if (given.every(({ Source, DetailType, Detail }) => !Source && !DetailType && !Detail)) {
    return { type: 'ValidationException', message: 'Each entry needs Source, DetailType and Detail.' };
  }
  return given.map((entry) => readEntry(entry, now));
}

/** Far above what anybody sends, and below what could no more be written as JSON. */
const maxDepth = 1000;

const isTooDeep = (detail: object): boolean => {
  let level: object[] = [detail];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true;
    level = level.flatMap((value) =>
      Object.values(value).filter((member): member is object => typeof member === 'object' && member !== null),
    );
  }
  return false;
};

/** The last second that a Date can hold. */
const lastSecond = 8_640_000_000_000;

/** Whether its members have their types; `null` is as good as none. */
function isEntry(entry: unknown): entry is PutEventsEntry {
  if (typeof entry !== 'object' || entry === null) return false;
  const { Source, DetailType, Detail, EventBusName, Resources, Time } = entry as Record<string, unknown>;
  return (
    [Source, DetailType, Detail, EventBusName].every((text) => isNone(text) || typeof text === 'string') &&
    (isNone(Resources) || (Array.isArray(Resources) && Resources.every((one) => typeof one === 'string'))) &&
    (isNone(Time) || (typeof Time === 'number' && Math.abs(Time) <= lastSecond))
  );
}

const isNone = (value: unknown): value is null | undefined => value === undefined || value === null;

function readEntry(entry: PutEventsEntry, now: number): ReadEntry {
  const { Source, DetailType, Detail, EventBusName, Resources, Time } = entry;
  for (const [name, value] of Object.entries({ Source, DetailType, Detail })) {
    if (isNone(value) || value === '') {
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
  if (typeof detail !== 'object' || detail === null || Array.isArray(detail) || isTooDeep(detail)) {
    return { ErrorCode: 'MalformedDetail', ErrorMessage: 'Detail is malformed.' };
  }
  const at = isNone(Time) ? now : Time * 1000;
  return {
    bus: (EventBusName ?? 'default').split('/').at(-1)!,
    event: {
      version: '0',
      id: randomUUID(),
      'detail-type': DetailType!,
      source: Source!,
      account: '000000000000',
      time: new Date(at).toISOString().replace(/\.\d{3}Z$/, 'Z'),
      region: 'us-east-1',
      resources: Resources ?? [],
      detail,
    },
  };
}

const entryBytes = ({ Time, Source, DetailType, Detail, Resources }: PutEventsEntry): number =>
  [Source, DetailType, Detail, ...(Resources ?? [])].reduce(
    (sum, text) => sum + Buffer.byteLength(text ?? ''),
    isNone(Time) ? 0 : 14,
  );
