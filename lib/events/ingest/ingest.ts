import { pastThrottles, type PastThrottles } from '../../commands/retry/past-throttles.js';
import { coalesce, type Candidate, type Contest, type EventOutcome, type OrderedState } from '../../recipes/index.js';
import { combineOutcomes } from '../../recipes/ordered-state/outcome.js';
import { decodeDelivery, type AnyDecoders } from '../decoders/decoder.js';
import type { SettledOptions } from '../handler/options.js';
import { Progress } from '../handler/progress.js';
import { setAside } from '../poison/failure-destination.js';
import type { PoisonReason } from '../poison/poison-record-error.js';
import { Deadline, type BatchContext } from '../run/deadline.js';
import { runBounded } from '../run/run-bounded.js';
import type { Batch, Delivery } from '../sources/delivery.js';
import type { Ingested } from './options.js';
import { settleKey, type PartEnding } from './settle-key.js';
import { stateEvent, type Reading, type StateEvent } from './state-event.js';

/** How an ingest works, whatever the batch. */
export interface IngestRules extends SettledOptions {
  readonly decode: AnyDecoders;
  readonly state: OrderedState<StateEvent, unknown>;
  readonly reading: Reading;
  /** Text that is one for one item. */
  readonly keyOf: (key: object) => string;
  readonly refusalOf: (error: unknown) => PoisonReason | undefined;
  readonly onOutcome: ((ingested: Ingested<unknown>) => Promise<void> | void) | undefined;
}

/** An event of the batch, on its way. */
interface Entry {
  readonly delivery: Delivery;
  readonly message: unknown;
  readonly event: StateEvent;
  /** In how many contests it takes part. */
  readonly parts: number;
  readonly endings: PartEnding[];
}

/** One batch of an ingest. */
export class Ingest {
  readonly progress: Progress;
  readonly outcomes: Record<EventOutcome, number> = { Applied: 0, AlreadyStored: 0, Superseded: 0, Conflict: 0 };
  writes = 0;
  private readonly deadline: Deadline;
  private readonly past: PastThrottles;

  constructor(
    private readonly batch: Batch,
    readonly rules: IngestRules,
    context: BatchContext | undefined,
  ) {
    this.deadline = new Deadline(context, rules.deadlineMarginMs);
    this.past = pastThrottles(this.deadline.near);
    this.progress = new Progress(batch);
  }

  async run(): Promise<void> {
    const { concurrency } = this.rules;
    try {
      const entries = await this.readAll();
      await runBounded(this.tasks(entries), concurrency, this.deadline);
    } finally {
      this.deadline.end();
      this.progress.close();
    }
  }

  /** The events of the batch, in its order; what is none has ended. */
  private async readAll(): Promise<Entry[]> {
    const { batch, rules, deadline } = this;
    const entries: (Entry | undefined)[] = [];
    const tasks = batch.deliveries.map((delivery, i) => async (): Promise<void> => {
      entries[i] = await this.read(delivery);
    });
    await runBounded(tasks, rules.concurrency, deadline);
    return entries.filter((entry) => entry !== undefined);
  }

  private async read(delivery: Delivery): Promise<Entry | undefined> {
    const { decode, state, reading, refusalOf } = this.rules;
    try {
      const message = await decodeDelivery(delivery, decode);
      const event = message === undefined ? undefined : stateEvent(message, reading);
      if (event !== undefined) {
        return { delivery, message, event, parts: state.lanes(event).length, endings: [] };
      }
      this.progress.end(delivery, { state: 'done' });
    } catch (error) {
      const reason = refusalOf(error);
      if (reason === undefined) this.progress.end(delivery, { state: 'failed', error });
      else await this.setAside(delivery, reason, error as Error);
    }
    return undefined;
  }

  private async setAside(delivery: Delivery, reason: PoisonReason, error: Error): Promise<void> {
    const { rules, deadline, past } = this;
    this.progress.end(delivery, await setAside(delivery, reason, error, rules, deadline.signal, past));
  }

  /** A task for each key: it settles the key's contests, then ends the records that took part. */
  private tasks(entries: readonly Entry[]): (() => Promise<void>)[] {
    const { state, keyOf, refusalOf } = this.rules;
    const keys = new Map<string, { contests: Contest<StateEvent>[]; entries: Entry[] }>();
    const keyed = entries.map((entry) => {
      const id = keyOf(entry.event.key);
      let key = keys.get(id);
      if (key === undefined) keys.set(id, (key = { contests: [], entries: [] }));
      key.entries.push(entry);
      return key;
    });
    const contests = coalesce(
      state,
      entries.map(({ event }) => event),
    );
    for (const contest of contests)
      keyed[(contest.candidates[0] as Candidate<StateEvent>).index]?.contests.push(contest);
    const settling = {
      state,
      deadline: this.deadline,
      past: this.past,
      refusalOf,
      end: ({ index }: Candidate<StateEvent>, ending: PartEnding) => entries[index]?.endings.push(ending),
      written: () => void this.writes++,
    };
    return [...keys.values()].map((key) => async (): Promise<void> => {
      await settleKey(key.contests, settling);
      for (const entry of key.entries) await this.end(entry);
    });
  }

  /** Ends a record by what became of its parts: one that failed before one that is refused before the outcomes. */
  private async end({ delivery, message, parts, endings }: Entry): Promise<void> {
    const failed = endings.find((ending) => ending.kind === 'failed');
    if (failed !== undefined) return this.progress.end(delivery, { state: 'failed', error: failed.error });
    // Some part was not reached before the deadline.
    if (endings.length < parts) return;
    const refused = endings.find((ending) => ending.kind === 'refused');
    if (refused !== undefined) return this.setAside(delivery, refused.reason, refused.error);
    const outcome = combineOutcomes(endings.flatMap((ending) => (ending.kind === 'settled' ? ending.outcome : [])));
    try {
      await this.past(async () => this.rules.onOutcome?.({ outcome, message, record: delivery.record }));
    } catch (error) {
      this.progress.end(delivery, { state: 'failed', error });
      return;
    }
    this.outcomes[outcome]++;
    this.progress.end(delivery, { state: 'done' });
  }
}
