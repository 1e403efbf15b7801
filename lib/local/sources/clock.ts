import type { EventSource } from './event-source.js';

/** A time that stands still until it is told otherwise: for `clock` options. */
export interface ManualClock {
  /** Epoch milliseconds. */
  (): number;
  /** Moves the time on; there is no way back. */
  advance(milliseconds: number): void;
}

/**
 * A clock for tests: visibility timeouts, batching windows, retries, record ages and schedules happen when it is moved.
 *
 * @param start - epoch milliseconds. @default the present
 * @throws RangeError where it is moved back
 * @example
 * const clock = manualClock(Date.parse('2026-12-01T00:00:00Z'));
 * const dynamodb = await createLocalDynamoDB({ clock });
 * clock.advance(24 * 60 * 60 * 1000);
 * await dynamodb.sweep();
 */
export function manualClock(start = Date.now()): ManualClock {
  let now = start;
  const clock = (): number => now;
  clock.advance = (milliseconds: number): void => {
    if (!(milliseconds >= 0)) throw new RangeError('A clock moves forward only: advance it by 0 milliseconds or more.');
    now += milliseconds;
  };
  return clock;
}

/** What {@link runUntilIdle} takes. */
export interface RunUntilIdleOptions {
  /** The clock of the sources, which is moved. */
  readonly clock: ManualClock;
  /** How far the clock may be moved, in milliseconds. @default 90000000: 25 hours, as records leave a stream after a day */
  readonly within?: number | undefined;
}

/**
 * Runs event sources to their end: drains them, moves the clock to what is due next, and so on until nothing waits. So a
 * test sees every retry, window and redrive, and waits for none.
 *
 * @returns the number of calls
 * @example
 * const clock = manualClock();
 * const queues = createLocalQueues({ clock });
 * const dead = queues.create('scores-dead');
 * const scores = queues.create('scores', { redrive: { deadLetterQueue: dead, maxReceiveCount: 3 } });
 * const source = sqsSource({ queue: scores, handler: () => Promise.reject(new Error('always')) });
 * scores.send({ body: '{}' });
 * await runUntilIdle([source], { clock });
 * console.log(dead.messages().length); // 1
 */
export async function runUntilIdle(
  sources: readonly EventSource[],
  { clock, within = 90_000_000 }: RunUntilIdleOptions,
): Promise<number> {
  const end = clock() + within;
  let calls = 0;
  for (;;) {
    let made = 0;
    for (const source of sources) made += await source.drain();
    calls += made;
    if (made > 0) continue;
    const due = sources.map((source) => source.nextDue()).filter((at) => at !== undefined);
    const next = Math.min(...due);
    if (next > end) return calls;
    clock.advance(Math.max(0, next - clock()));
  }
}
