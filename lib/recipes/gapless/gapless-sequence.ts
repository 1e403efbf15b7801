import { corrupt, invalid } from '../../commands/errors/errors.js';
import { backoff } from '../../commands/retry/backoff.js';
import { isPassingReason } from '../../commands/retry/cancellation-reasons.js';
import {
  OutcomeUnknownError,
  TransactionCanceledException,
  joinSteps,
  transactWrite,
  type AnyEntity,
  type EntityTable,
  type Put,
  type SendOptions,
  type Steps,
  type Table,
} from '../../commands/index.js';
import { bindingOf } from '../../commands/table/table.js';
import { checkFunction, checkObject, checkOptions, checkTable, isBetween, longestTimer } from '../arguments.js';
import { unlessAborted } from '../hi-lo/unless-aborted.js';
import { newerFormat } from '../newer-format.js';
import { SequenceContentionError, SequenceMovedBackError } from './errors.js';
import { sequenceEntity, sequenceFormat } from './sequence-entity.js';

/** What {@link GaplessSequence} takes. */
export interface GaplessSequenceOptions {
  readonly name: string;
  /** The first number, where the sequence has none yet. @default 1 */
  readonly first?: number;
  /** What the item's key starts with, and its type. @default 'SEQUENCE' */
  readonly prefix?: string;
}

/** The numbered records: any bound entity without a number in its key. */
export interface RecordTable<E extends AnyEntity> {
  readonly '~e': E;
  unique(item: E['~input']): Put<E, unknown, unknown>;
}

/** The members of an entity that can hold the number: whole numbers outside of its key. */
export type NumberMember<E extends AnyEntity> = Exclude<
  { [K in keyof E['~item']]-?: E['~item'][K] extends number ? K : never }[keyof E['~item']],
  keyof E['~key']
> &
  keyof E['~input'];

/** What {@link GaplessSequence.assign} takes beside the record. */
export interface AssignOptions extends SendOptions {
  /** More steps of the same transaction, made anew for each run. A condition of theirs that fails is thrown. */
  readonly steps?: (number: number) => Steps;
  /** How long to try, waiting for this process's own calls included. @default 10,000 */
  readonly timeoutMs?: number;
}

/** A number, and whether the record had it before this call; then `item` is the record as it is stored. */
export type Assigned<I> =
  | { readonly number: number; readonly repeated: false; readonly item: undefined }
  | { readonly number: number; readonly repeated: true; readonly item: I };

/** Refuses a member that can't hold the number: without it, a record would have none, and a repeat no answer. */
const checkMember = (records: unknown, member: unknown): void => {
  const { model_: model } = bindingOf(records).entity_;
  const field = model.fields_.find(({ name_: name }) => name === member);
  if (field === undefined || model.keyInputs_.includes(field))
    return invalid('member', `expected an attribute of ${model.name} outside of its key, which holds the number`);
  if (!field.required_ || field.attribute_.traits_.fallback_ !== undefined)
    invalid(
      'member',
      `expected an attribute of ${model.name} that is required: a record without a number has no answer`,
    );
};

const checkFormat = (item: { readonly format: number } | undefined): void => {
  if (item !== undefined && item.format > sequenceFormat) newerFormat('the sequence was written');
};

/**
 * Numbers without gaps, as invoices need: the number and the record that has it are written in one transaction, so no
 * number is taken without its record, whatever fails. The record's key is the caller's own id, and it is written only
 * where it does not exist, so that a call whose outcome is unknown is simply made again: it answers the number that the
 * record has. The table needs a sort key; the record may be in another table of the client.
 *
 * - **One number at a time.** Every number waits for the request of the one before it: where one takes 10 ms, there are
 *   at most 100 a second for the whole sequence, however many processes ask. Calls of one object stand in line. Those of several processes race: overlapping transactions may all
 *   be cancelled, each run of each is billed, and a run may lose any number of times; so runs are bounded by time, not
 *   by count. For ids that may have gaps take {@link hiLo}.
 * - A lost race needs no read: the failed condition hands over the number that the next run starts from.
 * - A record that is deleted leaves a gap, and its id would be numbered anew: mark it as void instead.
 * - Make one object per process and name: it remembers the last number, and its first call otherwise loses a run.
 *
 * Cost: a success is one request of four write units (two items, doubled by the transaction; more for a record over
 * 1 KB); a repeat is one cancelled request of the same; a conflict adds one such request per lost run, of which the
 * first call of an object is one.
 *
 * @example
 * const Invoice = entity('INVOICE', {
 *   pk: 'INVOICE#{id}', sk: 'INVOICE',
 *   attributes: { id: string(), number: integer(), total: integer() },
 * });
 * const invoiceNumbers = new GaplessSequence(shop, { name: 'invoices' });
 * const { number, repeated } = await invoiceNumbers.assign(shop.of(Invoice), 'number', { id: 'order-1', total: 500 });
 */
export class GaplessSequence {
  private readonly table: Table;
  private readonly entity: ReturnType<typeof sequenceEntity>;
  private readonly items: EntityTable<ReturnType<typeof sequenceEntity>>;
  private readonly name: string;
  private readonly first: number;
  /** The last number as this process knows it; undefined where it knows none. */
  private known: number | undefined = undefined;
  private line: Promise<void> = Promise.resolve();

  constructor(table: Table, options: GaplessSequenceOptions) {
    const { name, first = 1, prefix } = checkObject(options, 'options');
    if (!Number.isSafeInteger(first)) invalid('first', 'expected a whole number');
    this.table = table;
    this.entity = sequenceEntity(prefix);
    this.items = checkTable(table).of(this.entity);
    this.name = name;
    this.first = first;
  }

  /**
   * Writes the record with the next number, or answers the number that a record with this key has.
   *
   * @param records the entity of the record, whose key must not depend on the number
   * @param member the record's member that holds the number
   * @param record the record without its number, or a function of the number that makes it, for members derived from it
   * @throws SequenceContentionError where the time is over; TransactionCanceledException where a step of the caller's
   *   stopped it; nothing was written then. Anything else: the outcome is unknown, call again with the same record
   */
  async assign<E extends AnyEntity, K extends NumberMember<E>>(
    records: RecordTable<E>,
    member: K,
    record: Omit<E['~input'], K> | ((number: number) => Omit<E['~input'], K>),
    options: AssignOptions = {},
  ): Promise<Assigned<E['~item']>> {
    const { steps, timeoutMs = 10_000, signal } = checkOptions(options);
    checkMember(records, member);
    if (steps !== undefined) checkFunction(steps, 'steps');
    if (!isBetween(timeoutMs, Number.MIN_VALUE, longestTimer)) invalid('timeoutMs', 'expected milliseconds above 0');
    const deadline = performance.now() + timeoutMs;
    const recordStep = (number: number) => {
      const made = checkObject(typeof record === 'function' ? record(number) : record, 'record');
      return records.unique({ ...made, [member]: number }).returnOldOnFailure();
    };
    const numberOf = (item: E['~item']): number => item[member as unknown as keyof E['~item']] as unknown as number;
    return this.inLine(deadline, timeoutMs, signal, async () => {
      let open: OutcomeUnknownError | undefined;
      for (let run = 1; ; run++) {
        signal?.throwIfAborted();
        const { known } = this;
        const number = known === undefined ? this.first : known + 1;
        if (!Number.isSafeInteger(number)) corrupt('last', 'a number that another one can follow');
        const own = { sequence: this.sequenceStep(number), record: recordStep(number) };
        try {
          await transactWrite(this.table, joinSteps(own, steps?.(number) ?? {})).send({ signal });
          this.known = number;
          return { number, repeated: false, item: undefined };
        } catch (error) {
          // An attempt that takes effect later takes the same number: the next run then finds its record.
          if (error instanceof OutcomeUnknownError) open = error;
          else if (!(error instanceof TransactionCanceledException)) throw error;
          const { sequence, ...others } = error.failed;
          const { record: there } = others;
          // The record comes first: where it exists, nothing else about the run matters.
          if (there?.reason === 'ConditionalCheckFailed') {
            if (there.item === undefined) throw error;
            const item = there.item as E['~item'];
            return { number: numberOf(item), repeated: true, item };
          }
          const lost = sequence?.reason === 'ConditionalCheckFailed';
          const stopped = Object.values(lost ? others : error.failed);
          if (!stopped.every(({ reason }) => isPassingReason(reason))) throw error;
          if (lost) this.learn(sequence.item, known);
          if (performance.now() >= deadline) throw open ?? new SequenceContentionError(timeoutMs, error);
          // A run that knew no number lost to nobody: no reason to wait.
          if (!lost || known !== undefined) await backoff(run, signal);
        }
      }
    });
  }

  /**
   * The last number that was given; 0 before the first, or one less than `first`. Cost: one read unit.
   * @throws InvalidStoredItemError for a sequence of a newer format
   */
  async last(options: SendOptions = {}): Promise<number> {
    const { signal } = checkOptions(options);
    const item = await this.items.get({ name: this.name }).consistent().item({ signal });
    checkFormat(item);
    return item?.last ?? this.first - 1;
  }

  private sequenceStep(number: number) {
    const { name, last, format } = this.entity.attrs;
    return this.items
      .update({ name: this.name })
      .set(last, number)
      .setIfNotExists(format, sequenceFormat)
      .if(this.known === undefined ? name.notExists() : last.eq(number - 1).and(format.le(sequenceFormat)))
      .returnOldOnFailure();
  }

  /** Takes the number that the failed condition saw. */
  private learn(seen: unknown, expected: number | undefined): void {
    const item = seen as { last: number; format: number } | undefined;
    checkFormat(item);
    if (item === undefined || (expected !== undefined && item.last < expected)) throw new SequenceMovedBackError();
    this.known = item.last;
  }

  /** Runs the calls of this object one after another: they would only cancel each other. */
  private async inLine<R>(
    deadline: number,
    timeoutMs: number,
    signal: AbortSignal | undefined,
    work: () => Promise<R>,
  ): Promise<R> {
    const mine = Promise.withResolvers<void>();
    const before = this.line;
    this.line = before.then(() => mine.promise);
    const timeout = AbortSignal.timeout(Math.max(0, Math.ceil(deadline - performance.now())));
    try {
      await unlessAborted(before, signal === undefined ? timeout : AbortSignal.any([signal, timeout])).catch(
        (reason: unknown) => {
          signal?.throwIfAborted();
          throw new SequenceContentionError(timeoutMs, reason);
        },
      );
      return await work();
    } finally {
      mine.resolve();
    }
  }
}
