import { randomUUID } from 'node:crypto';
import { TransactionCanceledException, transactWrite, type StepFailure } from '../../commands/index.js';
import { invalid } from '../../commands/errors/errors.js';
import { backoff } from '../../commands/retry/backoff.js';
import { isThrottled, pastThrottlesOf } from '../../commands/retry/shared-throttles.js';
import { allFailures } from '../../commands/transact-write/step-failures.js';
import { tokenMs } from '../../commands/transact-write/transact-write.js';
import { InboxRecord, checkFormat, inboxKey, isLive } from '../inbox/inbox-record.js';
import type { Message } from '../message/message.js';
import type { AnySaga } from '../saga/saga-entity.js';
import type { Session } from '../session/session.js';
import { stepsOf, type UnitOfWork } from '../session/unit-of-work.js';
import type { Handled, Settled } from './options.js';
import { isInTheWay, isMismatch, isUnknown } from './outcome.js';
import { runHandler } from './running.js';
import { unitOfMessage } from './unit-of-message.js';

/** How often one built request is sent; the SDK repeats each of them by itself too. */
const sendings = 3;

type Failed = Readonly<Record<string, StepFailure>>;

/** Without a prototype: `failed.constructor` must not look like a failure. */
const nothing = Object.freeze(Object.create(null)) as Failed;

/** How a commit ended: done or done before, or lost to another writer. */
type Ending = Handled['outcome'] | { readonly lost: Failed; readonly error: unknown };

/** One delivery of one message. */
export class Delivery<M> {
  private readonly key: string;
  /** The same for all runs: whichever of them committed, the record is this delivery's. */
  private readonly id = randomUUID();
  private readonly records;
  private readFirst: boolean;
  private message: Message<M>;

  constructor(
    private readonly settings: Settled,
    private readonly handle: (message: Message<M>, session: Session) => Promise<void> | void,
    private readonly read: () => Message<M>,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.message = read();
    this.key = inboxKey(settings.consumer, this.message.id);
    this.records = settings.table.of(InboxRecord);
    this.readFirst = settings.readFirst;
  }

  async run(): Promise<Handled> {
    const { settings, signal } = this;
    let failed = nothing;
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const before = this.readFirst ? await this.recorded() : undefined;
      if (before !== undefined) return { outcome: before, attempts: attempt - 1 };
      const now = new Date(settings.now());
      let ending: Ending;
      try {
        if (attempt > 1) this.readAgain();
        const unit = this.unit(attempt, failed, now);
        await runHandler(unit, () => this.handle(this.message, unit));
        ending = await this.commit(unit);
      } catch (error) {
        // The next delivery tells; a table with too much to do is not asked one thing more.
        if (isThrottled(error)) throw error;
        // A handler that meets its own effect may well throw: of a message that was handled, that is no failure.
        const outcome = await this.recorded().catch(() => undefined);
        if (outcome === undefined) throw error;
        return { outcome, attempts: attempt };
      }
      if (typeof ending === 'string') return { outcome: ending, attempts: attempt };
      if (attempt >= settings.maxAttempts) {
        const outcome = await this.recorded().catch(() => undefined);
        if (outcome === undefined) throw ending.error;
        return { outcome, attempts: attempt };
      }
      failed = ending.lost;
      await backoff(attempt, signal);
    }
  }

  private unit(attempt: number, failed: Failed, now: Date): UnitOfWork {
    const { settings, message, signal, key, id: delivery } = this;
    const load = (entity: AnySaga, correlation: string): Promise<object | undefined> =>
      settings.table
        .of(entity as never)
        .get({ correlation } as never)
        .consistent()
        .item({ signal });
    return unitOfMessage(settings, { message, key, delivery, attempt, failed, now, signal, load });
  }

  /** The message as it came: the run before may have changed its body. */
  private readAgain(): void {
    const again = this.read();
    if (again.id !== this.message.id)
      invalid('id', 'gives another identity each time: it must be the same in every delivery');
    this.message = again;
  }

  /** Who handled the message, by its record. */
  private async recorded(): Promise<Handled['outcome'] | undefined> {
    const { records, key, signal } = this;
    const found = await records.get({ key }).consistent().item({ signal });
    return found !== undefined && isLive(found, new Date(this.settings.now())) ? this.whose(found) : undefined;
  }

  private whose(found: InboxRecord | undefined): Handled['outcome'] {
    if (found !== undefined) checkFormat(found);
    return found?.delivery === this.id ? 'handled' : 'duplicate';
  }

  private async commit(unit: UnitOfWork): Promise<Ending> {
    const { settings, signal } = this;
    const built = transactWrite(settings.table, stepsOf(unit.commit())).build();
    const firstSent = settings.now();
    for (let sending = 1; ; sending++) {
      try {
        const result = await pastThrottlesOf(signal)(() => built.trySend({ signal }));
        return result.committed ? 'handled' : this.judge(allFailures(result), undefined);
      } catch (error) {
        if (error instanceof TransactionCanceledException) return this.judge(error.failed, error);
        const unknown = isUnknown(error);
        if (signal?.aborted === true || !(unknown || isMismatch(error))) throw error;
        // One that met others was sent again by then.
        if (unknown && !isInTheWay(error) && sending < sendings) {
          await backoff(sending, signal);
          // The same request, which the token makes harmless; after a freeze of the process it no longer does.
          if (settings.now() - firstSent < tokenMs) continue;
        }
        // The record says what became of it. Where there is none, the next run's condition decides.
        const outcome = await this.recorded().catch(() => {
          throw error;
        });
        return outcome ?? { lost: nothing, error };
      }
    }
  }

  /** What the operations that stopped a commit say; the record's condition before all others. */
  private judge(failed: Failed, error: unknown): Ending {
    const { inbox } = failed;
    if (inbox?.reason === 'ConditionalCheckFailed') return this.whose(inbox.item as InboxRecord | undefined);
    const reasons = Object.values(failed).map(({ reason }) => reason);
    // Another delivery of this message is under way, and most likely done at the next look.
    if (inbox?.reason === 'TransactionConflict') this.readFirst = true;
    const cancelled = error ?? new TransactionCanceledException(failed, undefined);
    if (reasons.includes('ConditionalCheckFailed') || reasons.includes('TransactionConflict')) {
      return { lost: failed, error: cancelled };
    }
    throw cancelled as Error;
  }
}
