import type { Step, StepFailure, Table } from '../../commands/index.js';
import { invalid } from '../../commands/errors/errors.js';
import { bindingOf } from '../../commands/table/table.js';
import { stepSymbol, type StepCommand, type StepParts } from '../../commands/write/step.js';
import type { OutboxEvent, OutboxOptions } from '../../recipes/index.js';
import type { AnySaga } from '../saga/saga-entity.js';
import { SagaUnit, type Saga, type StoredSaga } from '../saga/saga.js';
import { Budget } from './budget.js';
import { bytesOf, itemId, nameFor, partsOf, stepOf, type Operation } from './operation.js';
import { Publications, commandType, type CommandMessage, type OfAggregate } from './publications.js';
import type { Session } from './session.js';

/** What a unit of work is made of. */
export interface UnitOptions {
  readonly table: Table;
  /** Tables whose keys are known, the first included. */
  readonly tables: readonly Table[];
  readonly outbox: OutboxOptions;
  readonly horizonSeconds: number;
  readonly attempt: number;
  readonly failed: Readonly<Record<string, StepFailure>>;
  readonly now: Date;
  readonly signal: AbortSignal | undefined;
  readonly traceparent: string | undefined;
  /** The put that takes the message. */
  readonly inbox: Step<unknown>;
  /** Reads a saga's item, consistently. */
  load(entity: AnySaga, correlation: string): Promise<object | undefined>;
}

interface SagaSlot {
  readonly name: string;
  readonly loading: Promise<SagaUnit>;
  unit: SagaUnit | undefined;
}

const reserved = /^(inbox|outbox|saga)\b/;

/** A session that collects, and gives the operations of its commit. */
export class UnitOfWork implements Session {
  readonly attempt: number;
  readonly failed: Readonly<Record<string, StepFailure>>;
  readonly now: Date;
  readonly signal: AbortSignal | undefined;
  private readonly budget = new Budget();
  private readonly inbox: Operation;
  /** The handler's own. */
  readonly operations: Operation[] = [];
  readonly publications: Publications;
  private readonly sagas = new Map<string, SagaSlot>();
  private ended = false;

  constructor(private readonly options: UnitOptions) {
    ({ attempt: this.attempt, failed: this.failed, now: this.now, signal: this.signal } = options);
    this.inbox = { name: 'inbox', parts: (options.inbox as unknown as StepCommand)[stepSymbol]() };
    this.take(this.inbox, 'inbox');
    this.publications = new Publications(options.table, options.outbox, options.traceparent, this.budget);
  }

  private take({ name, parts }: Operation, share: 'inbox' | "the handler's own"): void {
    this.budget.take(name, { share, item: itemId(parts), bytes: bytesOf(parts) });
  }

  private refuseEnded(): void {
    if (this.ended) invalid('session', 'the handler has returned: await everything that uses its session');
  }

  add(added: unknown, name = nameFor(added, this.operations.length + 1)): void {
    this.refuseEnded();
    if (typeof name !== 'string' || name === '' || name === '__proto__' || reserved.test(name))
      invalid('name', 'expected text that does not begin with inbox, outbox or saga');
    const operation = { name, parts: partsOf(added, name, this.options.tables) };
    this.take(operation, "the handler's own");
    this.operations.push(operation);
  }

  publish(event: OutboxEvent, of?: OfAggregate): void {
    this.refuseEnded();
    this.publications.add(event, of);
  }

  send({ to, type, ...message }: CommandMessage, of?: OfAggregate): void {
    this.publish({ ...message, type: commandType({ to, type }) }, of);
  }

  saga<E extends AnySaga>(entity: E, correlation: string): Promise<Saga<E['~state']>>;
  saga<E extends AnySaga>(
    entity: E,
    correlation: string,
    options: { readonly start: boolean },
  ): Promise<Saga<E['~state']> | undefined>;
  async saga(
    entity: AnySaga,
    correlation: string,
    { start }: { readonly start: boolean } = { start: true },
  ): Promise<Saga<object> | undefined> {
    this.refuseEnded();
    const slot = this.slot(entity, correlation);
    const unit = (slot.unit ??= await slot.loading);
    this.refuseEnded();
    if (!start && unit.isAbsent && unit.saga === undefined) return undefined;
    const first = unit.saga === undefined;
    const saga = unit.open();
    // Nothing will be written of it.
    if (first && saga.completed) this.budget.release(slot.name);
    return saga;
  }

  private slot(entity: AnySaga, correlation: string): SagaSlot {
    const table = this.options.table.of(entity as never);
    const { table: model, entity: compiled } = bindingOf(table);
    // Refuses what is no saga, and no text.
    if (!compiled.model.keyInputs.some(({ name }) => name === 'correlation'))
      return invalid('saga', 'expected an entity made by sagaEntity()');
    const item = itemId({ request: { TableName: model.name }, key: compiled.key({ correlation }) });
    let slot = this.sagas.get(item);
    if (slot === undefined) {
      const same = [...this.sagas.values()].filter(({ name }) => name.split(' ')[1] === entity.name).length;
      const name = `saga ${entity.name}${same === 0 ? '' : ` ${same + 1}`}`;
      this.budget.take(name, { share: 'sagas', item, bytes: 0 });
      const loading = this.options
        .load(entity, correlation)
        .then((stored) => new SagaUnit(table as never, correlation, stored as StoredSaga | undefined, this.now));
      // Whoever calls gets the failure; the slot itself must not report it once more.
      loading.catch(() => undefined);
      this.sagas.set(item, (slot = { name, loading, unit: undefined }));
    }
    return slot;
  }

  /** The sagas that the handler has loaded or started. */
  opened(): SagaUnit[] {
    return [...this.sagas.values()].flatMap(({ unit }) => (unit?.saga === undefined ? [] : unit));
  }

  /** No more may be added. */
  end(): void {
    this.ended = true;
  }

  /**
   * All operations of the commit, in its order.
   * @throws LimitExceededError where the sagas take it over the room of the transaction
   */
  commit(): Operation[] {
    this.end();
    const sagas = [...this.sagas.values()].flatMap(({ name, unit }) => {
      if (unit === undefined) return invalid(name, 'was not loaded when the handler returned: await it');
      const step = unit.step(this.options.horizonSeconds);
      if (step === undefined) return [];
      const parts: StepParts = (step as unknown as StepCommand)[stepSymbol]();
      this.budget.resize(name, bytesOf(parts));
      return [{ name, parts }];
    });
    return [this.inbox, ...this.operations, ...sagas, ...this.publications.operations()];
  }
}

/** The steps of operations, by their names. */
export const stepsOf = (operations: readonly Operation[]): Record<string, Step<unknown>> =>
  Object.fromEntries(operations.map(({ name, parts }) => [name, stepOf(parts)]));
