import { createHash, randomUUID } from 'node:crypto';

/** A message attribute, as SQS has it. */
export interface LocalMessageAttribute {
  readonly DataType: string;
  readonly StringValue?: string | undefined;
  /** Base64. */
  readonly BinaryValue?: string | undefined;
}

/** A message to send. */
export interface LocalMessageInput {
  readonly body: string;
  /** The group, required by a FIFO queue. */
  readonly groupId?: string | undefined;
  /** A FIFO queue takes one message of an id in five minutes. @default the SHA-256 of the body, where the queue does that */
  readonly deduplicationId?: string | undefined;
  /** @default the queue's own delay; a FIFO queue takes no other */
  readonly delaySeconds?: number | undefined;
  readonly attributes?: Readonly<Record<string, LocalMessageAttribute>> | undefined;
}

/** A message as `messages()` shows it. */
export interface LocalMessage {
  readonly messageId: string;
  readonly body: string;
  readonly groupId: string | undefined;
  readonly deduplicationId: string | undefined;
  readonly sequenceNumber: string | undefined;
  readonly attributes: Readonly<Record<string, LocalMessageAttribute>>;
  readonly receiveCount: number;
  /** Whether a receive would find it now; `inFlight`: it was received, `delayed`: it waits for its delay. */
  readonly state: 'visible' | 'inFlight' | 'delayed';
}

/** A message that was received, and what deletes it. */
export interface ReceivedLocalMessage extends Omit<LocalMessage, 'state'> {
  readonly receiptHandle: string;
  readonly sentAt: number;
  readonly firstReceivedAt: number;
  /** The queue that it was a dead letter of. */
  readonly deadLetterSource: string | undefined;
}

/** Where messages go that were received too often. */
export interface Redrive {
  readonly deadLetterQueue: LocalQueue;
  /** How often a message is received before it goes there. */
  readonly maxReceiveCount: number;
}

/** Settings of a queue. */
export interface LocalQueueOptions {
  /** How long a received message stays hidden. @default 30 */
  readonly visibilityTimeoutSeconds?: number | undefined;
  /** @default 0 */
  readonly delaySeconds?: number | undefined;
  /** How long messages are kept. @default 345600: 4 days */
  readonly retentionSeconds?: number | undefined;
  readonly redrive?: Redrive | undefined;
  /** FIFO: whether the body's SHA-256 stands in for a deduplication id. @default false */
  readonly contentBasedDeduplication?: boolean | undefined;
  /** FIFO: where a deduplication id counts. @default queue */
  readonly deduplicationScope?: 'queue' | 'messageGroup' | undefined;
}

interface Entry {
  readonly messageId: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, LocalMessageAttribute>>;
  readonly groupId: string | undefined;
  readonly deduplicationId: string | undefined;
  sequenceNumber: string | undefined;
  sentAt: number;
  firstReceivedAt: number | undefined;
  receiveCount: number;
  visibleAt: number;
  receiptHandle: string | undefined;
  deadLetterSource: string | undefined;
}

/**
 * What a queue refuses, by SQS's name of the error.
 *
 * @example
 * const orders = createLocalQueues().create('orders.fifo');
 * try {
 *   orders.send({ body: '{}' });
 * } catch (error) {
 *   console.log(error instanceof LocalQueueError && error.name); // MissingParameter
 * }
 */
export class LocalQueueError extends Error {
  override readonly name: string;

  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** What SQS takes. */
export const maxMessageBytes = 1024 * 1024;

/** About what a message takes of an event: its body as JSON, and what is told of it. */
export const payloadBytes = (body: string): number => Buffer.byteLength(JSON.stringify(body)) + 1024;

const firstSequenceNumber = 18_850_000_000_000_000_000n;
const deduplicationMs = 5 * 60 * 1000;

/**
 * A queue in memory by the rules of SQS: visibility timeouts, receive counts, redrive, delays and retention on a clock, and
 * for FIFO queues order, deduplication and groups
 * (https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html): one
 * receive may give several messages of a group, and the group gives no more until they are deleted or visible again.
 *
 * Made by {@link LocalQueues.create}.
 *
 * @example
 * const scores = createLocalQueues().create('scores.fifo', { contentBasedDeduplication: true });
 * scores.send({ body: '{"home":1}', groupId: 'm1' });
 * scores.send({ body: '{"home":2}', groupId: 'm1' });
 * console.log(scores.receive(10).length); // 2
 */
export class LocalQueue {
  readonly name: string;
  readonly arn: string;
  readonly fifo: boolean;
  /** May be changed at any time, as SetQueueAttributes does. */
  options: LocalQueueOptions;
  readonly #clock: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #groups = new Map<string, Set<Entry>>();
  readonly #inFlight = new Set<Entry>();
  readonly #byReceipt = new Map<string, Entry>();
  readonly #deduplication = new Map<string, { at: number; messageId: string; sequenceNumber: string }>();
  readonly #listeners = new Set<() => void>();
  #sequence = 0n;

  /** @internal */
  constructor(name: string, arn: string, options: LocalQueueOptions, clock: () => number) {
    this.name = name;
    this.arn = arn;
    this.fifo = name.endsWith('.fifo');
    this.options = options;
    this.#clock = clock;
  }

  /**
   * Sends a message. A FIFO queue that has taken the deduplication id within five minutes answers with that message's id.
   *
   * @throws LocalQueueError where a FIFO queue is given no group or no deduplication id, and for a body above 1 MiB
   */
  send({ body, groupId, deduplicationId, delaySeconds, attributes = {} }: LocalMessageInput): {
    messageId: string;
    sequenceNumber: string | undefined;
  } {
    if (Buffer.byteLength(body) > maxMessageBytes) {
      throw new LocalQueueError(
        'InvalidParameterValue',
        'A message has at most 1 MiB: store it, and send where it is.',
      );
    }
    if (!this.fifo) return this.add({ body, groupId, attributes, delaySeconds });
    if (groupId === undefined) {
      throw new LocalQueueError('MissingParameter', `The FIFO queue ${this.name} takes no message without a group.`);
    }
    const id = deduplicationId ?? this.#contentId(body);
    const before = this.deduplicated(id, groupId);
    return before ?? this.add({ body, groupId, deduplicationId: id, attributes });
  }

  /** The message that a FIFO queue has taken under this deduplication id in the last five minutes. */
  deduplicated(
    deduplicationId: string,
    groupId: string | undefined,
  ): { messageId: string; sequenceNumber: string } | undefined {
    const found = this.#deduplication.get(this.#deduplicationKey(deduplicationId, groupId));
    return found !== undefined && this.#clock() - found.at < deduplicationMs ? found : undefined;
  }

  /**
   * Receives messages and hides them for the visibility timeout.
   *
   * @param limit - how many at most, 10 through the API
   * @param options - another visibility timeout; bytes of an event that are enough
   */
  receive(
    limit: number,
    options: { readonly visibilityTimeoutSeconds?: number | undefined; readonly maxBytes?: number | undefined } = {},
  ): ReceivedLocalMessage[] {
    const { visibilityTimeoutSeconds = this.options.visibilityTimeoutSeconds ?? 30, maxBytes = Infinity } = options;
    const now = this.#clock();
    this.#expire(now);
    const taken: ReceivedLocalMessage[] = [];
    let bytes = 0;
    for (const entry of this.#receivable(now)) {
      if (taken.length === limit) break;
      const { redrive } = this.options;
      if (redrive !== undefined && entry.receiveCount >= redrive.maxReceiveCount) {
        this.#remove(entry);
        redrive.deadLetterQueue.#bury(entry, this.arn);
        continue;
      }
      bytes += payloadBytes(entry.body);
      if (bytes > maxBytes) break;
      taken.push(this.#take(entry, now, visibilityTimeoutSeconds));
    }
    return taken;
  }

  /** Deletes a received message; false where the handle is no longer the message's last, or its FIFO time is over. */
  delete(receiptHandle: string): boolean {
    const entry = this.#byReceipt.get(receiptHandle);
    if (entry === undefined || (this.fifo && entry.visibleAt <= this.#clock())) return false;
    this.#remove(entry);
    // What waits in its group can be received now.
    if (this.fifo) this.#tell();
    return true;
  }

  /** Hides a received message for so long from now; 0 makes it visible. False as for `delete`. */
  changeVisibility(receiptHandle: string, seconds: number): boolean {
    const entry = this.#byReceipt.get(receiptHandle);
    if (entry === undefined || entry.visibleAt <= this.#clock()) return false;
    entry.visibleAt = this.#clock() + seconds * 1000;
    if (seconds === 0) this.#tell();
    return true;
  }

  /** What the queue holds, without receiving it. */
  messages(): LocalMessage[] {
    const now = this.#clock();
    this.#expire(now);
    return [...this.#entries.values()].map((entry) => ({
      ...shown(entry),
      state: entry.visibleAt <= now ? 'visible' : this.#inFlight.has(entry) ? 'inFlight' : 'delayed',
    }));
  }

  /** Deletes all messages. */
  purge(): void {
    for (const entry of [...this.#entries.values()]) this.#remove(entry);
  }

  /** When the next hidden message is visible, in epoch milliseconds of the clock. */
  nextVisibleAt(): number | undefined {
    const now = this.#clock();
    let next: number | undefined;
    for (const { visibleAt } of this.#entries.values()) {
      if (visibleAt > now && (next === undefined || visibleAt < next)) next = visibleAt;
    }
    return next;
  }

  /** Calls the listener when messages may have become receivable; the result removes it. */
  onMessage(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** A received message that is hidden, by the handle of its last receive. */
  inFlight(receiptHandle: string): ReceivedLocalMessage | undefined {
    const entry = this.#byReceipt.get(receiptHandle);
    return entry === undefined || entry.visibleAt <= this.#clock() ? undefined : received(entry);
  }

  /** @internal */
  nextSequenceNumber(): string {
    this.#sequence += 1n;
    return String(firstSequenceNumber + this.#sequence);
  }

  /**
   * Takes a message that was checked.
   *
   * @internal
   */
  add(message: LocalMessageInput & { messageId?: string; sequenceNumber?: string | undefined }) {
    const now = this.#clock();
    const { delaySeconds = this.options.delaySeconds ?? 0, messageId: id = randomUUID() } = message;
    const { attributes = {}, sequenceNumber: number, ...rest } = message;
    const entry: Entry = {
      groupId: undefined,
      deduplicationId: undefined,
      ...rest,
      attributes,
      sequenceNumber: number,
      messageId: id,
      sentAt: now,
      firstReceivedAt: undefined,
      receiveCount: 0,
      visibleAt: now + delaySeconds * 1000,
      receiptHandle: undefined,
      deadLetterSource: undefined,
    };
    this.#insert(entry);
    const { messageId, sequenceNumber } = entry;
    if (entry.deduplicationId !== undefined) {
      const key = this.#deduplicationKey(entry.deduplicationId, entry.groupId);
      this.#deduplication.set(key, { at: now, messageId, sequenceNumber: sequenceNumber! });
    }
    return { messageId, sequenceNumber };
  }

  /** Takes another queue's dead letter: the same message, new in this queue's order. */
  #bury(entry: Entry, source: string): void {
    const buried = { ...entry, receiptHandle: undefined, deadLetterSource: source, receiveCount: 0 };
    // A standard queue keeps the age of a dead letter, a FIFO queue begins anew.
    const now = this.#clock();
    this.#insert({
      ...buried,
      ...(this.fifo ? { sentAt: now, sequenceNumber: this.nextSequenceNumber() } : {}),
      visibleAt: now,
    });
  }

  #insert(entry: Entry): void {
    if (this.fifo) {
      entry.sequenceNumber ??= this.nextSequenceNumber();
      const group = this.#groups.get(entry.groupId!);
      if (group === undefined) this.#groups.set(entry.groupId!, new Set([entry]));
      else group.add(entry);
    }
    this.#entries.set(entry.messageId, entry);
    this.#tell();
  }

  *#receivable(now: number): Iterable<Entry> {
    if (!this.fifo) {
      for (const entry of this.#entries.values()) if (entry.visibleAt <= now) yield entry;
      return;
    }
    const locked = new Set<string>();
    for (const { groupId, visibleAt } of this.#inFlight) if (visibleAt > now) locked.add(groupId!);
    for (const [group, entries] of [...this.#groups]) {
      if (locked.has(group)) continue;
      for (const entry of [...entries]) {
        if (entry.visibleAt > now) break;
        yield entry;
      }
    }
  }

  #take(entry: Entry, now: number, visibilityTimeoutSeconds: number): ReceivedLocalMessage {
    if (entry.receiptHandle !== undefined) this.#byReceipt.delete(entry.receiptHandle);
    entry.receiptHandle = randomUUID();
    entry.receiveCount += 1;
    entry.firstReceivedAt ??= now;
    entry.visibleAt = now + visibilityTimeoutSeconds * 1000;
    this.#inFlight.add(entry);
    this.#byReceipt.set(entry.receiptHandle, entry);
    return received(entry);
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry.messageId);
    this.#inFlight.delete(entry);
    if (entry.receiptHandle !== undefined) this.#byReceipt.delete(entry.receiptHandle);
    if (entry.groupId === undefined) return;
    const group = this.#groups.get(entry.groupId);
    group?.delete(entry);
    if (group?.size === 0) this.#groups.delete(entry.groupId);
  }

  #expire(now: number): void {
    const oldest = now - (this.options.retentionSeconds ?? 345_600) * 1000;
    // Messages are kept in the order of sending, so the first that is kept ends the search.
    for (const entry of this.#entries.values()) {
      if (entry.sentAt >= oldest) break;
      this.#remove(entry);
    }
    for (const [key, { at }] of this.#deduplication) {
      if (now - at < deduplicationMs) break;
      this.#deduplication.delete(key);
    }
  }

  #contentId(body: string): string {
    if (this.options.contentBasedDeduplication === true) return createHash('sha256').update(body).digest('hex');
    throw new LocalQueueError(
      'InvalidParameterValue',
      `The FIFO queue ${this.name} needs a deduplication id with each message, or contentBasedDeduplication.`,
    );
  }

  #deduplicationKey(deduplicationId: string, groupId: string | undefined): string {
    return this.options.deduplicationScope === 'messageGroup'
      ? JSON.stringify([deduplicationId, groupId])
      : deduplicationId;
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

const shown = ({ messageId, body, groupId, deduplicationId, sequenceNumber, attributes, receiveCount }: Entry) => ({
  ...{ messageId, body, groupId, deduplicationId, sequenceNumber, attributes, receiveCount },
});

const received = (entry: Entry): ReceivedLocalMessage => ({
  ...shown(entry),
  receiptHandle: entry.receiptHandle!,
  sentAt: entry.sentAt,
  firstReceivedAt: entry.firstReceivedAt!,
  deadLetterSource: entry.deadLetterSource,
});
