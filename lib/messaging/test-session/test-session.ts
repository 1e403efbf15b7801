import type { DynamoDBClient, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { table, type AttributeMap, type Step, type StepFailure, type Table } from '../../commands/index.js';
import { bindingOf } from '../../commands/table/table.js';
import type { OutboxEvent } from '../../recipes/index.js';
import { settled, type MessageHandlerOptions } from '../handler/options.js';
import { InboxRecord, inboxFormat, inboxKey } from '../inbox/inbox-record.js';
import { messageId } from '../message/message.js';
import { sagaFormat, type AnySaga } from '../saga/saga-entity.js';
import type { Saga } from '../saga/saga.js';
import type { Operation } from '../session/operation.js';
import type { CommandMessage, OfAggregate } from '../session/publications.js';
import type { Session } from '../session/session.js';
import { UnitOfWork } from '../session/unit-of-work.js';
import { testEvent, type TestEvent } from './test-event.js';

/** What {@link TestSession} takes: what the handler's own options say, where its code depends on it. */
export interface TestSessionOptions extends Pick<
  MessageHandlerOptions<never, never>,
  'outbox' | 'tables' | 'horizonSeconds'
> {
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
 * tests assert on `operations`, `events` and `sagas`, and call `commit()` for the checks that wait until then. A handler
 * that reads by itself is given an embedded table instead (`createLocalDynamoDB` of `safewrites/local`).
 *
 * @throws InvalidInputError for an option out of its bounds
 * @example
 * const ship = (orderId: string, session: Session) =>
 *   session.publish({ type: 'order.shipped', detail: { orderId } });
 *
 * const session = new TestSession();
 * ship('order-1', session);
 * session.commit();
 * console.log(session.events[0]?.type, session.operations.length); // order.shipped 0
 */
export class TestSession implements Session {
  private readonly unit: UnitOfWork;
  private readonly existing = new Map<string, AttributeMap>();
  private readonly table: Table;

  constructor(options: TestSessionOptions = {}) {
    const { now = new Date(), attempt = 1, failed = {} } = options;
    this.table = options.table ?? table({ name: 'test', client: noClient });
    const unused = { from: { messageOf: () => undefined as never }, handle: () => undefined };
    const settings = settled({ ...options, ...unused, table: this.table, consumer: 'test', now: () => now.getTime() });
    const key = inboxKey('test', messageId('test'));
    const expiresAt = new Date(now.getTime() + settings.horizonSeconds * 1000);
    const record = { key, format: inboxFormat, consumer: 'test', delivery: 'test', expiresAt };
    this.unit = new UnitOfWork({
      ...settings,
      attempt,
      failed,
      now,
      signal: undefined,
      traceparent: undefined,
      inbox: this.table.of(InboxRecord).put(record),
      load: (entity, correlation) => {
        const { item, compiled } = this.stored(entity, correlation);
        return Promise.resolve(item && compiled.decode(item));
      },
    });
  }

  private stored(entity: AnySaga, correlation: string) {
    const { entity: compiled } = bindingOf(this.table.of(entity as never));
    const id = JSON.stringify(compiled.key({ correlation }));
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
    this.existing.set(id, compiled.encode({ ...state, ...ending, correlation, revision, format: sagaFormat }));
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
      return { name: entity.model.name, correlation, state, started, completed: completed || completing };
    });
  }

  /**
   * Ends the session as a commit does, with its checks.
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
  item: { [parts.kind]: parts.request },
});
