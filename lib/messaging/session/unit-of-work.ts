import { isFilledText } from '../../commands/attributes/text.js';
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
  /** The load that is under way, or was successful; after a failure the next call loads again. */
  loading: Promise<SagaUnit> | undefined;
  unit: SagaUnit | undefined;
  /** Calls that the handler may still wait for. */
  waiting: number;
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

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

  private freeName(added: unknown): string {
    // A name of the caller's may be the one that this operation would have.
    for (let place = this.operations.length + 1; ; place++) {
      const name = nameFor(added, place);
      if (!this.operations.some((other) => other.name === name)) return name;
    }
  }

  add(added: unknown, name = this.freeName(added)): void {
    this.refuseEnded();
    if (!isFilledText(name) || name === '__proto__' || reserved.test(name))
      invalid('name', 'expected text that does not begin with inbox, outbox or saga');
    const operation = { name, parts: partsOf(added, name, this.options.tables) };
    this.take(operation, "the handler's own");
    this.operations.push(operation);
  }

  publish(event: OutboxEvent, of?: OfAggregate): void {
    this.refuseEnded();
    this.publications.add(event, of);
  }

  send(message: CommandMessage, of?: OfAggregate): void {
    this.refuseEnded();
    if (!isObject(message)) invalid('send', 'expected a message, such as { to, type, detail }');
    const { to, type, ...event } = message;
    this.publish({ ...event, type: commandType({ to, type }) }, of);
  }

  saga<E extends AnySaga>(entity: E, correlation: string): Promise<Saga<E['~state']>>;
  saga<E extends AnySaga>(
    entity: E,
    correlation: string,
    options: { readonly start: boolean },
  ): Promise<Saga<E['~state']> | undefined>;
  saga(
    entity: AnySaga,
    correlation: string,
    options: { readonly start: boolean } = { start: true },
  ): Promise<Saga<object> | undefined> {
    let slot: SagaSlot;
    try {
      this.refuseEnded();
      if (!isObject(options) || typeof options.start !== 'boolean')
        invalid('saga', 'expected the options { start: boolean }');
      slot = this.slot(entity, correlation);
    } catch (error) {
      return Promise.reject(error);
    }
    const opened = this.opened(slot, entity, correlation, options.start);
    // A call that the handler drops must not end the process: the commit refuses it, or the handler has thrown.
    opened.catch(() => undefined);
    return opened;
  }

  private async opened(
    slot: SagaSlot,
    entity: AnySaga,
    correlation: string,
    start: boolean,
  ): Promise<Saga<object> | undefined> {
    slot.waiting++;
    const loading = (slot.loading ??= this.load(entity, correlation));
    let unit: SagaUnit;
    try {
      unit = await loading;
    } catch (error) {
      if (slot.loading === loading) slot.loading = undefined;
      slot.waiting--;
      throw error;
    }
    // A call that comes too late stays one that was not waited for.
    this.refuseEnded();
    slot.waiting--;
    slot.unit = unit;
    if (!start && unit.isAbsent && unit.saga === undefined) return undefined;
    const first = unit.saga === undefined;
    const saga = unit.open();
    // Nothing will be written of it.
    if (first && saga.completed) this.budget.release(slot.name);
    return saga;
  }

  private async load(entity: AnySaga, correlation: string): Promise<SagaUnit> {
    const table = this.options.table.of(entity as never);
    const stored = await this.options.load(entity, correlation);
    return new SagaUnit(table, correlation, stored as StoredSaga | undefined, this.now);
  }

  private slot(entity: AnySaga, correlation: string): SagaSlot {
    if (!isObject(entity)) return invalid('saga', 'expected an entity made by sagaEntity()');
    const table = this.options.table.of(entity as never);
    const { table_: model, entity_: compiled } = bindingOf(table);
    // Refuses what is no saga, and no text.
    if (!compiled.model_.keyInputs_.some(({ name_: name }) => name === 'correlation'))
      return invalid('saga', 'expected an entity made by sagaEntity()');
    const item = itemId({ request_: { TableName: model.name_ }, key_: compiled.key_({ correlation }) });
    let slot = this.sagas.get(item);
    if (slot === undefined) {
      const same = [...this.sagas.values()].filter(({ name }) => name.split(' ')[1] === entity.name).length;
      const name = `saga ${entity.name}${same === 0 ? '' : ` ${same + 1}`}`;
      this.budget.take(name, { share: 'sagas', item, bytes: 0 });
      this.sagas.set(item, (slot = { name, loading: undefined, unit: undefined, waiting: 0 }));
    }
    return slot;
  }

  /** The sagas that the handler has loaded or started. */
  openSagas(): SagaUnit[] {
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
    const sagas = [...this.sagas.values()].flatMap(({ name, unit, waiting }) => {
      if (waiting > 0) return invalid(name, 'was not loaded when the handler returned: await it');
      if (unit === undefined) return invalid(name, 'could not be loaded: let the handler throw, or load it again');
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
