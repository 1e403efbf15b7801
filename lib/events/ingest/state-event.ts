import { SafeWritesError } from '../../commands/index.js';
import { poison, type PoisonReason } from '../poison/poison-record-error.js';

type Values = Readonly<Record<string, unknown>>;

/** An event as the state takes it, with its version in each group. */
export interface StateEvent {
  readonly key: Values;
  readonly groups?: Readonly<Record<string, Values | undefined>> | undefined;
  readonly deleted?: unknown;
  readonly occurredAt?: Date | undefined;
}

/** What the user says of messages. */
export interface Reading {
  readonly groups: Readonly<Record<string, { readonly version: string }>>;
  readonly eventOf: (message: unknown) => unknown;
  readonly versionOf: (message: unknown) => unknown;
}

/** What a function of the user's throws may quote the message, so only the kit's own errors are kept. */
const read = <R>(reason: PoisonReason, what: string, fn: () => R): R => {
  try {
    return fn();
  } catch (error) {
    if (error instanceof SafeWritesError && error.kind === 'PoisonRecordError') throw error;
    return poison(reason, `${what} threw`);
  }
};

/**
 * What a message means to the state; undefined where it means nothing.
 *
 * @throws PoisonRecordError for what no event can be made of
 */
export const stateEvent = (message: unknown, { groups, eventOf, versionOf }: Reading): StateEvent | undefined => {
  const event = read('content', 'eventOf', () => eventOf(message));
  if (event === undefined) return undefined;
  if (typeof event !== 'object' || event === null) return poison('content', 'eventOf gave no event');
  const { key, groups: given, deleted, occurredAt } = event as StateEvent;
  if (typeof key !== 'object' || key === null) return poison('content', 'eventOf gave an event without key');
  const version = read('version', 'versionOf', () => versionOf(message));
  if (version === undefined || version === null) return poison('version', 'it has no version');
  if (deleted !== undefined) {
    if (deleted !== true || given !== undefined) poison('content', 'it deletes and does not');
    return { key, deleted: version, occurredAt };
  }
  if (typeof given !== 'object' || given === null) return poison('content', 'it neither replaces nor deletes');
  const versioned = Object.entries(given).map(([name, values]) => {
    const group = Object.hasOwn(groups, name) ? groups[name] : undefined;
    const whole = values === undefined || group === undefined ? values : { ...values, [group.version]: version };
    return [name, whole] as const;
  });
  return { key, groups: Object.fromEntries(versioned), occurredAt };
};
