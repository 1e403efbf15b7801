/** All that is used of Lambda's context. */
export interface BatchContext {
  getRemainingTimeInMillis?(): number;
}

const mostMs = 3000;
const longestTimer = 2 ** 31 - 1;

/**
 * The end of an invocation, in three steps: no new work is begun, what runs is aborted, what is left is given up. Without
 * a context there is none.
 */
export class Deadline {
  private readonly controller = new AbortController();
  private readonly nearing = new AbortController();
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly left: () => number;
  private readonly marginMs: number;
  /** Settles where the answer can wait no longer. */
  readonly over: Promise<void>;

  constructor(context: BatchContext | undefined, marginMs: number | undefined) {
    this.left = () => context?.getRemainingTimeInMillis?.() ?? Infinity;
    const left = this.left();
    const margin = marginMs ?? Math.min(left / 5, mostMs);
    this.marginMs = margin;
    this.after(left - margin, () => this.nearing.abort(new DOMException('The deadline is near', 'AbortError')));
    this.over = new Promise((resolve) => {
      this.after(left - margin / 2, () =>
        this.controller.abort(new DOMException('The deadline is near', 'AbortError')),
      );
      this.after(left - margin / 4, resolve);
    });
  }

  private after(ms: number, fn: () => void): void {
    if (ms <= longestTimer) this.timers.push(setTimeout(fn, Math.max(ms, 0)));
  }

  /** Aborts halfway between the moment when no new work is begun and the deadline. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Aborts when no new work is to be begun; what runs is not meant. */
  get near(): AbortSignal {
    return this.nearing.signal;
  }

  /** Whether no new work is to be begun. */
  get isNear(): boolean {
    return this.left() <= this.marginMs;
  }

  /** Ends the timers. */
  end(): void {
    this.timers.forEach(clearTimeout);
  }
}
