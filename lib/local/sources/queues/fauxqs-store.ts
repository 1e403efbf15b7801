import { createHash } from 'node:crypto';
import type { LocalMessageAttribute, LocalQueue, LocalQueueOptions } from './local-queue.js';

/** A message as fauxqs makes it from a request. */
interface FauxqsMessage {
  readonly messageId: string;
  readonly body: string;
  readonly messageAttributes: Record<string, LocalMessageAttribute>;
  readonly sentTimestamp: number;
  readonly delayUntil?: number | undefined;
  readonly messageGroupId?: string | undefined;
  readonly messageDeduplicationId?: string | undefined;
  readonly sequenceNumber?: string | undefined;
}

/** The queues that a store serves. */
export interface QueueRegistry {
  queues(): Iterable<LocalQueue>;
  queue(name: string): LocalQueue | undefined;
  create(name: string, options: LocalQueueOptions): LocalQueue;
  delete(name: string): void;
}

const account = '000000000000';
const defaults = {
  VisibilityTimeout: '30',
  DelaySeconds: '0',
  MaximumMessageSize: String(1024 * 1024),
  MessageRetentionPeriod: '345600',
  ReceiveMessageWaitTimeSeconds: '0',
};

/**
 * What fauxqs takes as its store of queues: the API's requests, their checks and SNS are fauxqs's, the queues are
 * {@link LocalQueue}s. fauxqs's own know no other clock than the computer's, give one message of a group in a receive, and
 * put those of a group back in reverse order when their visibility timeout ends.
 */
export class FauxqsStore {
  readonly #registry: QueueRegistry;
  readonly #fronts = new WeakMap<LocalQueue, QueueFront>();
  host = '';
  region = 'us-east-1';
  /** Host and port of the last request that made a queue, for its address. */
  #authority = '127.0.0.1';

  constructor(registry: QueueRegistry) {
    this.#registry = registry;
  }

  /** Where the server listens. */
  listensOn(authority: string): void {
    this.#authority = authority;
  }

  createQueue(name: string, _url: string, _arn: string, attributes: Record<string, string>, tags = {}): QueueFront {
    const queue = this.#registry.create(name, {});
    const front = this.#front(queue);
    front.tags = new Map(Object.entries(tags));
    front.setAttributes(attributes);
    return front;
  }

  deleteQueue(url: string): boolean {
    const queue = this.getQueue(url);
    if (queue === undefined) return false;
    this.#registry.delete(queue.name);
    queue.cancelWaiters();
    return true;
  }

  buildQueueUrl(name: string, _port: string, requestHost: string): string {
    return `http://${requestHost}/${account}/${name}`;
  }

  getQueue(url: string): QueueFront | undefined {
    return this.getQueueByName(url.split('/').at(-1)!);
  }

  getQueueByName(name: string): QueueFront | undefined {
    const queue = this.#registry.queue(name);
    return queue === undefined ? undefined : this.#front(queue);
  }

  getQueueByArn(arn: string): QueueFront | undefined {
    return this.getQueueByName(arn.split(':').at(-1)!);
  }

  listQueues(prefix = '', maxResults = Infinity, nextToken = ''): { queues: QueueFront[]; nextToken?: string } {
    const queues = [...this.#registry.queues()]
      .map((queue) => this.#front(queue))
      .filter(({ name }) => name.startsWith(prefix) && name > nextToken)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const page = queues.slice(0, maxResults);
    return { queues: page, ...(page.length < queues.length ? { nextToken: page.at(-1)!.name } : {}) };
  }

  inspectQueue(name: string) {
    const queue = this.getQueueByName(name);
    return queue === undefined
      ? undefined
      : {
          name,
          url: queue.url,
          arn: queue.arn,
          attributes: queue.getAllAttributes(['All']),
          messages: queue.messages(),
        };
  }

  shutdown(): void {
    for (const queue of this.#registry.queues()) this.#front(queue).cancelWaiters();
  }

  #front(queue: LocalQueue): QueueFront {
    let front = this.#fronts.get(queue);
    if (front === undefined) {
      front = new QueueFront(queue, `http://${this.#authority}/${account}/${queue.name}`, this.#registry);
      this.#fronts.set(queue, front);
    }
    return front;
  }
}

/** A queue as fauxqs's requests use it. */
class QueueFront {
  readonly name: string;
  readonly arn: string;
  readonly createdTimestamp = Math.floor(Date.now() / 1000);
  lastModifiedTimestamp = this.createdTimestamp;
  tags = new Map<string, string>();
  readonly attributes: Record<string, string>;
  readonly inflightMessages: { has(handle: string): boolean; get(handle: string): object | undefined };
  readonly #waiters = new Set<() => void>();

  constructor(
    private readonly queue: LocalQueue,
    readonly url: string,
    private readonly registry: QueueRegistry,
  ) {
    this.name = queue.name;
    this.arn = queue.arn;
    this.attributes = { ...defaults, ...attributesOf(queue) };
    this.inflightMessages = {
      has: (handle) => queue.inFlight(handle) !== undefined,
      get: (handle) => {
        const message = queue.inFlight(handle);
        return (
          message && {
            message: {
              sentTimestamp: message.sentAt,
              approximateReceiveCount: message.receiveCount,
              approximateFirstReceiveTimestamp: message.firstReceivedAt,
              messageGroupId: message.groupId,
              messageDeduplicationId: message.deduplicationId,
              sequenceNumber: message.sequenceNumber,
            },
          }
        );
      },
    };
  }

  isFifo(): boolean {
    return this.queue.fifo;
  }

  messages() {
    return this.queue.messages();
  }

  getAttribute(name: string): string | undefined {
    const count = (state: string) => String(this.queue.messages().filter((message) => message.state === state).length);
    switch (name) {
      case 'ApproximateNumberOfMessages':
        return count('visible');
      case 'ApproximateNumberOfMessagesNotVisible':
        return count('inFlight');
      case 'ApproximateNumberOfMessagesDelayed':
        return count('delayed');
      case 'QueueArn':
        return this.arn;
      case 'CreatedTimestamp':
        return String(this.createdTimestamp);
      case 'LastModifiedTimestamp':
        return String(this.lastModifiedTimestamp);
      case 'SqsManagedSseEnabled':
        return this.attributes[name] ?? 'true';
      default:
        return this.attributes[name];
    }
  }

  getAllAttributes(requested: readonly string[]): Record<string, string> {
    const computed = ['QueueArn', 'CreatedTimestamp', 'LastModifiedTimestamp', 'SqsManagedSseEnabled'];
    const counted = ['', 'NotVisible', 'Delayed'].map((kind) => `ApproximateNumberOfMessages${kind}`);
    const names = requested.includes('All') ? [...Object.keys(this.attributes), ...computed, ...counted] : requested;
    return Object.fromEntries(
      names
        .map((name) => [name, this.getAttribute(name)])
        .filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
  }

  setAttributes(attributes: Record<string, string>): void {
    Object.assign(this.attributes, attributes);
    if (attributes['RedrivePolicy'] === '') delete this.attributes['RedrivePolicy'];
    this.queue.options = optionsOf(this.attributes, (arn) => this.registry.queue(arn.split(':').at(-1)!));
    this.lastModifiedTimestamp = Math.floor(Date.now() / 1000);
  }

  enqueue(message: FauxqsMessage): void {
    const { messageId, body, messageAttributes: attributes, sequenceNumber } = message;
    const { messageGroupId: groupId, messageDeduplicationId: deduplicationId, delayUntil } = message;
    // Only here the group is known, which a deduplication by group needs.
    if (this.queue.fifo && this.queue.deduplicated(deduplicationId!, groupId) !== undefined) return;
    this.queue.add({
      ...{ messageId, body, attributes, sequenceNumber, groupId, deduplicationId },
      delaySeconds: delayUntil === undefined ? 0 : (delayUntil - message.sentTimestamp) / 1000,
    });
  }

  dequeue(maxCount: number, visibilityTimeoutSeconds: number | undefined): object[] {
    return this.queue
      .receive(maxCount, { visibilityTimeoutSeconds })
      .map(({ messageId, receiptHandle, body, attributes }) => ({
        MessageId: messageId,
        ReceiptHandle: receiptHandle,
        MD5OfBody: createHash('md5').update(body).digest('hex'),
        Body: body,
        ...(Object.keys(attributes).length === 0 ? {} : { MessageAttributes: { ...attributes } }),
      }));
  }

  deleteMessage(receiptHandle: string): boolean {
    return this.queue.delete(receiptHandle);
  }

  changeVisibility(receiptHandle: string, seconds: number): void {
    this.queue.changeVisibility(receiptHandle, seconds);
  }

  /** Waits for a message: by the computer's clock, as a client does. */
  waitForMessages(seconds: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        clearInterval(look);
        stop();
        this.#waiters.delete(end);
        resolve();
      };
      const timer = setTimeout(end, seconds * 1000);
      // A visibility timeout may end, of which nothing tells.
      const look = setInterval(() => {
        if (this.queue.messages().some(({ state }) => state === 'visible')) end();
      }, 100);
      const stop = this.queue.onMessage(end);
      this.#waiters.add(end);
    });
  }

  cancelWaiters(): void {
    for (const end of [...this.#waiters]) end();
  }

  purge(): void {
    this.queue.purge();
  }

  checkDeduplication(deduplicationId: string) {
    const found =
      this.queue.options.deduplicationScope === 'messageGroup'
        ? undefined
        : this.queue.deduplicated(deduplicationId, undefined);
    return found === undefined
      ? { isDuplicate: false }
      : { isDuplicate: true, originalMessageId: found.messageId, originalSequenceNumber: found.sequenceNumber };
  }

  /** The queue remembers it when it takes the message. */
  recordDeduplication(): void {
    return undefined;
  }

  nextSequenceNumber(): string {
    return this.queue.nextSequenceNumber();
  }
}

/** Settings by SQS's attributes. */
export function optionsOf(
  attributes: Readonly<Record<string, string>>,
  queueOf: (arn: string) => LocalQueue | undefined,
): LocalQueueOptions {
  const seconds = (name: string) => (attributes[name] === undefined ? undefined : Number(attributes[name]));
  const policy = attributes['RedrivePolicy'];
  const { deadLetterTargetArn, maxReceiveCount } = (policy === undefined ? {} : JSON.parse(policy)) as {
    deadLetterTargetArn?: string;
    maxReceiveCount?: number | string;
  };
  const deadLetterQueue = deadLetterTargetArn === undefined ? undefined : queueOf(deadLetterTargetArn);
  return {
    visibilityTimeoutSeconds: seconds('VisibilityTimeout'),
    delaySeconds: seconds('DelaySeconds'),
    retentionSeconds: seconds('MessageRetentionPeriod'),
    redrive: deadLetterQueue && { deadLetterQueue, maxReceiveCount: Number(maxReceiveCount) },
    contentBasedDeduplication: attributes['ContentBasedDeduplication'] === 'true',
    deduplicationScope: attributes['DeduplicationScope'] === 'messageGroup' ? 'messageGroup' : 'queue',
  };
}

function attributesOf({ fifo, options }: LocalQueue): Record<string, string> {
  const { visibilityTimeoutSeconds, delaySeconds, retentionSeconds, redrive } = options;
  const seconds = {
    VisibilityTimeout: visibilityTimeoutSeconds,
    DelaySeconds: delaySeconds,
    MessageRetentionPeriod: retentionSeconds,
  };
  return {
    ...Object.fromEntries(
      Object.entries(seconds).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
    ),
    ...(redrive === undefined
      ? {}
      : {
          RedrivePolicy: JSON.stringify({
            deadLetterTargetArn: redrive.deadLetterQueue.arn,
            maxReceiveCount: redrive.maxReceiveCount,
          }),
        }),
    ...(fifo
      ? {
          FifoQueue: 'true',
          ContentBasedDeduplication: String(options.contentBasedDeduplication === true),
          DeduplicationScope: options.deduplicationScope ?? 'queue',
        }
      : {}),
  };
}
