/** The parts of an event source that {@link SourceLoop} drives. */
export interface SourceParts {
  /** Takes in what is new, as far as there is room for it. */
  poll(): Promise<void> | void;
  /** The calls that can begin now. Each must have begun when it is returned. */
  begin(): Promise<void>[];
  nextDue(): number | undefined;
  readonly clock: () => number;
  /** How long to wait between two polls that find nothing, in milliseconds. */
  readonly intervalMs: number;
  /** Takes an error of a poll that `start` made; the next poll tries again. */
  readonly onError: (error: unknown) => void;
}

interface Waiter {
  readonly since: number;
  resolve(calls: number): void;
  reject(error: unknown): void;
}

/** Polls and calls: until nothing is due for `drain`, without end after `start`. Slow calls hold up no others. */
export class SourceLoop {
  readonly #parts: SourceParts;
  readonly #running = new Set<Promise<void>>();
  #waiters: Waiter[] = [];
  #calls = 0;
  #forever = false;
  #stopping = false;
  #loop: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  /** What a call in progress threw. */
  #failure: { error: unknown } | undefined;

  constructor(parts: SourceParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#forever = true;
    this.#run();
  }

  async stop(): Promise<void> {
    this.#forever = false;
    this.#stopping = true;
    this.wake();
    await this.#loop;
    this.#stopping = false;
  }

  drain(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ since: this.#calls, resolve, reject });
      this.#run();
      this.wake();
    });
  }

  /** Ends the wait between two polls. */
  readonly wake = (): void => this.#wake?.();

  #run(): void {
    this.#loop ??= this.#turns();
  }

  async #turns(): Promise<void> {
    for (;;) {
      // Those who ask during the poll get one of their own: it may have missed what they know of.
      const asked = this.#waiters.length;
      if (!this.#stopping) await this.#turn();
      if (this.#running.size > 0) {
        await Promise.race([...this.#running, this.#pause()]);
        this.wake();
        continue;
      }
      if (this.#failure !== undefined) {
        const { error } = this.#failure;
        this.#failure = undefined;
        const waiters = this.#waiters.splice(0);
        for (const waiter of waiters) waiter.reject(error);
        if (waiters.length === 0) this.#parts.onError(error);
      } else {
        const answered = this.#waiters.splice(0, this.#stopping ? Infinity : asked);
        for (const waiter of answered) waiter.resolve(this.#calls - waiter.since);
      }
      if (this.#waiters.length > 0) continue;
      if (!this.#forever || this.#stopping) {
        this.#loop = undefined;
        return;
      }
      await this.#pause();
    }
  }

  async #turn(): Promise<void> {
    try {
      await this.#parts.poll();
      for (const call of this.#parts.begin()) {
        this.#calls += 1;
        const settled: Promise<void> = call
          .catch((error: unknown) => void (this.#failure ??= { error }))
          .finally(() => this.#running.delete(settled));
        this.#running.add(settled);
      }
    } catch (error) {
      this.#failure ??= { error };
    }
  }

  #pause(): Promise<void> {
    const due = this.#parts.nextDue();
    const untilDue = due === undefined ? Infinity : due - this.#parts.clock();
    const { intervalMs } = this.#parts;
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
      const timer = setTimeout(end, untilDue > 0 ? Math.min(intervalMs, untilDue) : intervalMs);
      this.#wake = end;
    });
  }
}
