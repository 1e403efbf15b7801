/** An event on its way from the outbox to its target. */
export interface RelayedEvent {
  /** What consumers deduplicate by. */
  readonly id: string;
  readonly type: string;
  readonly source: string;
  /** JSON text of an object. */
  readonly detail: string;
  readonly time: Date;
  /** What the event is about; an event that was published without an aggregate has one of its own, a UUID. */
  readonly aggregate: string;
  /** A number of the outbox; of a change of an item, the stream's number, whose digits no number holds. */
  readonly sequence: number | string;
  /** Its place among the events of one transaction and aggregate. */
  readonly position: number;
  /** The W3C trace context that it belongs to. */
  readonly traceparent: string | undefined;
}

/**
 * What became of an event. `reason` is a code of at most 64 letters, digits and `_.:-`, which is stored, counted and
 * logged: never a text of the event's. An event whose failure is not `retryable` is parked at once.
 */
export type PublishAnswer =
  { readonly ok: true } | { readonly ok: false; readonly retryable: boolean; readonly reason: string };

/** Where a relay sends events: anything that takes them in batches and answers for each. */
export interface Publisher {
  /** Events of one batch. @default 10, as EventBridge, SNS and SQS take */
  readonly maximumEvents?: number;
  /** Bytes of one batch; an event that is larger goes alone. @default 262,144, the least of these services */
  readonly maximumBytes?: number;
  /**
   * Whether of several events of one aggregate in a batch it accepts a leading part only: none after one that failed.
   * Without this promise a batch holds one event of each aggregate, which waits for the answer before the next one.
   * @default false
   */
  readonly keepsOrder?: boolean;
  /** Bytes of an event in a batch. @default those of its JSON text */
  sizeOf?(event: RelayedEvent): number;
  /**
   * Sends a batch.
   * @returns an answer for each event, in their order. Throwing means that the target was not reached, or took none:
   *   it is tried again and counts against no event
   */
  publish(events: readonly RelayedEvent[]): Promise<readonly PublishAnswer[]>;
}
