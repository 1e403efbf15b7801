import type { PoisonReason } from '../poison/poison-record-error.js';
import type { Batch, Delivery } from '../sources/delivery.js';

/** How a record ended. */
export type Ending =
  | { readonly state: 'done' }
  | { readonly state: 'poison'; readonly reason: PoisonReason }
  | { readonly state: 'failed'; readonly error: unknown };

type State = Ending['state'] | 'unfinished';

/** How far a batch came: a record without an ending was not done. */
export class Progress {
  private readonly endings = new Map<Delivery, Ending>();
  private closed = false;

  constructor(private readonly batch: Batch) {}

  /** Keeps an ending; what comes after the answer counts no more. */
  end(delivery: Delivery, ending: Ending): void {
    if (!this.closed) this.endings.set(delivery, ending);
  }

  /** From here on nothing changes: the answer is made of it. */
  close(): void {
    this.closed = true;
  }

  endingOf(delivery: Delivery): Ending | undefined {
    return this.endings.get(delivery);
  }

  /** The records that must come again. */
  failed(): ReadonlySet<Delivery> {
    const isFailed = (delivery: Delivery): boolean => (this.endings.get(delivery)?.state ?? 'failed') === 'failed';
    return new Set(this.batch.deliveries.filter(isFailed));
  }

  counts(): Record<State, number> {
    const counts = { done: 0, poison: 0, failed: 0, unfinished: 0 };
    for (const delivery of this.batch.deliveries) counts[this.endings.get(delivery)?.state ?? 'unfinished']++;
    return counts;
  }

  reasons(): Partial<Record<PoisonReason, number>> {
    const reasons: Partial<Record<PoisonReason, number>> = {};
    for (const ending of this.endings.values()) {
      if (ending.state === 'poison') reasons[ending.reason] = (reasons[ending.reason] ?? 0) + 1;
    }
    return reasons;
  }

  errors(): unknown[] {
    return [...this.endings.values()].flatMap((ending) => (ending.state === 'failed' ? [ending.error] : []));
  }
}
