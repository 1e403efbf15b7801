/** What calls a function with events: a mapping of a queue, a stream or a topic, or a schedule. */
export interface EventSource {
  /** Polls from now on, until `stop`. */
  start(): void;
  /** Takes in nothing more, and waits for the calls in progress. Records that are not done stay where they are. */
  stop(): Promise<void>;
  /**
   * Polls, and calls the function until nothing more is due at the clock's time; gives the number of calls. What waits for
   * a later time, such as a retry or a window, stays: move the clock and drain again.
   */
  drain(): Promise<number>;
  /** When something that is known is due next, in epoch milliseconds of the clock; undefined where nothing waits. */
  nextDue(): number | undefined;
}
