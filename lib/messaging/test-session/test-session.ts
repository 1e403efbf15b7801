import { randomUUID } from 'node:crypto';
import type { DynamoDBClient, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { table, type AttributeMap, type Step, type StepFailure, type Table } from '../../commands/index.js';
import { bindingOf } from '../../commands/table/table.js';
import { checkObject } from '../../recipes/arguments.js';
import { checkDate } from '../../recipes/clock.js';
import type { OutboxEvent } from '../../recipes/index.js';
import { settled, type MessageHandlerOptions } from '../handler/options.js';
import { runHandler } from '../handler/running.js';
import { unitOfMessage } from '../handler/unit-of-message.js';
import { inboxKey } from '../inbox/inbox-record.js';
import { messageId, type Message } from '../message/message.js';
import { sagaFormat, type AnySaga } from '../saga/saga-entity.js';
import type { Saga } from '../saga/saga.js';
import type { Operation } from '../session/operation.js';
import type { CommandMessage, OfAggregate } from '../session/publications.js';
import type { Session } from '../session/session.js';
import type { UnitOfWork } from '../session/unit-of-work.js';
import { testEvent, type TestEvent } from './test-event.js';

/** What {@link TestSession} takes: what the handler's own options say, where its code depends on it. */
export interface TestSessionOptions extends Pick<
  MessageHandlerOptions<never, never>,
  'outbox' | 'tables' | 'horizonSeconds'
> {
  /** The handler's: it is the source of events that name none. @default 'test' */
  readonly consumer?: string;
  /** The message's identity. @default 'test' */
  readonly id?: string;
  /** The message's headers. @default none */
  readonly headers?: Readonly<Record<string, string>>;
  /** Its names of keys count; nothing is sent to it. @default a table with `pk` and `sk` */
  readonly table?: Table;
  readonly now?: Date;
  /** The run that the handler is to believe it is. @default 1 */
  readonly attempt?: number;
  /** What stopped the run before. @default nothing */
  readonly failed?: Readonly<Record<string, StepFailure>>;
}

/** An operation as it would be sent. */
export interface TestOperation {
  readonly name: string;
  readonly item: TransactWriteItem;
}

/** A saga as the handler leaves it. */
export interface TestSaga {
  /** The saga's name. */
  readonly name: string;
  readonly correlation: string;
  readonly state: object;
  readonly started: boolean;
  /** By this message or an earlier one. */
  readonly completed: boolean;
}

/** Answers nothing: whatever is sent by it was not given to the session. */
const noClient = {
  config: {},
  send: () => Promise.reject(new Error('A TestSession has no table: the handler sent a request of its own.')),
} as unknown as DynamoDBClient;

/**
 * A session for unit tests of a handler: the same checks and limits as the real one, and no table. Nothing is written;
 * `handle()` runs a handler as `messageHandler` does, up to its commit, and tests assert on `operations`, `events` and
 * `sagas`. A handler that reads by itself is given an embedded table instead (`createLocalDynamoDB` of
 * `safewrites/local`).
 *
 * @throws InvalidInputError for an option out of its bounds
 * @example
 * const ship = ({ body }: Message<{ orderId: string }>, session: Session) =>
 *   session.publish({ type: 'order.shipped', detail: { orderId: body.orderId } });
 *
 * const session = new TestSession();
 * await session.handle(ship, { orderId: 'order-1' });
 * console.log(session.events[0]?.type, session.operations.length); // order.shipped 0
 */
export class TestSession implements Session {
  private readonly unit: UnitOfWork;
  private readonly existing = new Map<string, AttributeMap>();
  private readonly table: Table;
  private readonly message: Omit<Message<never>, 'body'>;

  constructor(options: TestSessionOptions = {}) {
    checkObject(options, 'options');
    if (options.now !== undefined) checkDate(options.now, 'now');
    const { now = new Date(), attempt = 1, failed = {}, consumer = 'test', id = 'test', headers = {} } = options;
    this.table = options.table ?? table({ name: 'test', client: noClient });
    const settings = settled({
      ...options,
      table: this.table,
      consumer,
      from: { messageOf: () => undefined as never },
      handle: () => undefined,
      now: () => now.getTime(),
    });
    const header = (name: string): string | undefined => (Object.hasOwn(headers, name) ? headers[name] : undefined);
    this.message = { id: messageId(id), header };
    this.unit = unitOfMessage(settings, {
      message: this.message,
      key: inboxKey(consumer, this.message.id),
      delivery: randomUUID(),
      attempt,
      failed,
      now,
      signal: undefined,
      load: (entity, correlation) => {
        const { item, compiled } = this.stored(entity, correlation);
        return Promise.resolve(item && compiled.decode_(item));
      },
    });
  }

  /**
   * Runs a handler with this session, as `messageHandler` does, and ends the session as a commit does.
   *
   * @param body of the message; the handler gets this object, no copy
   * @returns all operations that the transaction would hold, as {@link commit}
   * @throws what the handler throws; InvalidInputError for a command that it awaits or returns, and a saga that it does not
   *   await; LimitExceededError as {@link commit}
   */
  async handle<M>(
    handle: MessageHandlerOptions<never, M>['handle'],
    body: NoInfer<M>,
  ): Promise<readonly TestOperation[]> {
    await runHandler(this.unit, () => handle({ ...this.message, body }, this));
    return this.commit();
  }

  private stored(entity: AnySaga, correlation: string) {
    const { entity_: compiled } = bindingOf(this.table.of(entity as never));
    const id = JSON.stringify(compiled.key_({ correlation }));
    return { id, compiled, item: this.existing.get(id) };
  }

  /** Lets a saga exist before the message; members of its state that are left out have their defaults. */
  given<E extends AnySaga>(
    entity: E,
    correlation: string,
    state: Partial<E['~state']> = {},
    { completed = false, revision = 1 }: { readonly completed?: boolean; readonly revision?: number } = {},
  ): this {
    const { id, compiled } = this.stored(entity, correlation);
    const ending = completed ? { completedAt: this.now, expiresAt: new Date(this.now.getTime() + 86_400_000) } : {};
    this.existing.set(id, compiled.encode_({ ...state, ...ending, correlation, revision, format: sagaFormat }));
    return this;
  }

  add(operation: Step<unknown> | TransactWriteItem, name?: string): void {
    this.unit.add(operation, name);
  }

  publish(event: OutboxEvent, of?: OfAggregate): void {
    this.unit.publish(event, of);
  }

  send(message: CommandMessage, of?: OfAggregate): void {
    this.unit.send(message, of);
  }

  saga<E extends AnySaga>(entity: E, correlation: string): Promise<Saga<E['~state']>>;
  saga<E extends AnySaga>(
    entity: E,
    correlation: string,
    options: { readonly start: boolean },
  ): Promise<Saga<E['~state']> | undefined>;
  saga<E extends AnySaga>(
    entity: E,
    correlation: string,
    options: { readonly start: boolean } = { start: true },
  ): Promise<Saga<E['~state']> | undefined> {
    return this.unit.saga(entity, correlation, options);
  }

  get attempt(): number {
    return this.unit.attempt;
  }
  get failed(): Readonly<Record<string, StepFailure>> {
    return this.unit.failed;
  }
  get now(): Date {
    return this.unit.now;
  }
  get signal(): AbortSignal | undefined {
    return this.unit.signal;
  }

  /** What the handler added, in its order. */
  get operations(): readonly TestOperation[] {
    return this.unit.operations.map(asSent);
  }

  /** What the handler published and sent, in its order. */
  get events(): readonly TestEvent[] {
    return this.unit.publications.published.map(testEvent);
  }

  /** The sagas that the handler loaded or started, in its order. */
  get sagas(): readonly TestSaga[] {
    return this.unit.openSagas().map(({ correlation, entity, saga }) => {
      const { state, started, completed, completing } = saga as NonNullable<typeof saga>;
      return { name: entity.model_.name, correlation, state, started, completed: completed || completing };
    });
  }

  /**
   * Ends the session as a commit does, with its checks, after a test called the handler by itself. Such a call can't refuse
   * a command that the handler awaits or returns: {@link handle} does.
   *
   * @returns all operations that the transaction would hold, the inbox, sagas and outbox items included
   * @throws LimitExceededError where the sagas take it over the room of a transaction
   */
  commit(): readonly TestOperation[] {
    return this.unit.commit().map(asSent);
  }
}

const asSent = ({ name, parts }: Operation): TestOperation => ({
  name,
  item: { [parts.kind_]: parts.request_ },
});
