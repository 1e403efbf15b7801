import { isFilledText } from '../../commands/attributes/text.js';
import type { Table } from '../../commands/index.js';
import { invalid } from '../../commands/errors/errors.js';
import { isBetween } from '../../recipes/arguments.js';
import { checkedClock } from '../../recipes/clock.js';
import { outbox, type OutboxOptions } from '../../recipes/index.js';
import type { Message } from '../message/message.js';
import type { Session } from '../session/session.js';
import type { MessageSource } from '../sources/source.js';

/** What {@link messageHandler} takes. */
export interface MessageHandlerOptions<R, M> {
  readonly table: Table;
  /**
   * Who handles: consumers on one table don't see each other's messages. It is stored with every message that was
   * handled: another name is another consumer, which handles them again.
   */
  readonly consumer: string;
  /** Where records come from, and how a message is recognised: `fromSqs(…)` and others, or a source of one's own. */
  readonly from: MessageSource<R, M>;
  /**
   * Handles a message. It runs again after a lost race, with the message read anew, and may run for a message that was
   * handled: all it does itself is read; its writes are the session's. A command that it awaits or returns is refused and
   * not sent, since it would be sent outside of the transaction; only `send()` does that. What it throws is thrown, and
   * leaves nothing.
   */
  handle(message: Message<M>, session: Session): Promise<void> | void;
  /** The outbox; its options must be those of the relay. @default { source: consumer } */
  readonly outbox?: Partial<OutboxOptions>;
  /** Other tables whose items are put in raw form, so that their keys are known. */
  readonly tables?: readonly Table[];
  /**
   * How long a message is remembered, and a completed saga kept, in seconds; at most 366 days. It must exceed the time in
   * which the source may deliver again: the queue's retention plus the dead-letter queue's, and that again for every
   * further redrive; in Kafka, the topic's retention. @default 2,592,000 (30 days; SQS: 14 + 14 days at most)
   */
  readonly horizonSeconds?: number;
  /**
   * Reads the inbox, consistently, before the handler runs: for traffic with many repeats, or a handler whose reads cost
   * much. A repeat then takes 1 read unit and not the write units of a cancelled transaction; a first delivery 1 request
   * and 1 read unit more. @default false
   */
  readonly readFirst?: boolean;
  /** Runs of the handler per delivery, the first included. @default 5 */
  readonly maxAttempts?: number;
  /** @default Date.now */
  readonly now?: () => number;
}

/** What a call of a handler takes beside the record; Lambda's context will do. */
export interface HandleOptions {
  /** Aborts requests and waits. The message may have been handled: its next delivery tells. */
  readonly signal?: AbortSignal | undefined;
  readonly awsRequestId?: string;
}

/** How a delivery ended. */
export interface Handled {
  /** `handled`: by this call. `duplicate`: by an earlier one; nothing was done. */
  readonly outcome: 'handled' | 'duplicate';
  /** Runs of the handler. */
  readonly attempts: number;
}

/** Handles one record. */
export type MessageHandler<R> = (record: R, options?: HandleOptions) => Promise<Handled>;

const longestHorizon = 366 * 86_400;
const defaultHorizon = 30 * 86_400;

const checkTable = (given: Table | undefined, path: string): void => {
  if (typeof given?.of !== 'function') invalid(path, 'expected a table, made by table({ name, client })');
};

/** The options as they apply; refuses what is out of bounds, milliseconds taken for seconds among it. */
export const settled = <R, M>(options: MessageHandlerOptions<R, M>) => {
  if (typeof options !== 'object' || options === null) invalid('messageHandler', 'expected options');
  const { table, consumer, tables = [], horizonSeconds = defaultHorizon, maxAttempts = 5 } = options;
  checkTable(table, 'table');
  if (!Array.isArray(tables)) invalid('tables', 'expected a list of tables');
  for (const other of tables as Table[]) checkTable(other, 'tables');
  if (!isFilledText(consumer) || !consumer.isWellFormed()) invalid('consumer', 'expected a name, not empty');
  if (!isBetween(horizonSeconds, 1, longestHorizon))
    invalid('horizonSeconds', 'expected seconds, 1 to 31,622,400 (366 days)');
  if (!Number.isSafeInteger(maxAttempts) || maxAttempts < 1)
    invalid('maxAttempts', 'expected a whole number from 1 on');
  const outboxOptions: OutboxOptions = { ...options.outbox, source: options.outbox?.source ?? consumer };
  const now = checkedClock(options.now, 'now');
  // Its options are checked here, and not at the first message.
  outbox(table, outboxOptions);
  const readFirst = options.readFirst === true;
  return {
    table,
    consumer,
    tables: [table, ...tables],
    horizonSeconds,
    maxAttempts,
    now,
    outbox: outboxOptions,
    readFirst,
  };
};

/** See {@link settled}. */
export type Settled = ReturnType<typeof settled>;
