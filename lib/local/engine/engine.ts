import { missedByEngine } from '../corrections/checks.js';
import { correctedMessage } from '../corrections/messages.js';
import { checkWithLessNesting } from '../corrections/leaf-parentheses.js';
import { brokenExpression, syntaxErrorMessage } from '../corrections/syntax-error.js';
import { isApiError, validationError } from './api-error.js';
import type { Action, Dynalite, EngineOperation, EngineStore, FieldTypes, Validation } from './dynalite.js';
import { Locks } from './locks.js';
import { Overlay } from './overlay.js';
import type { LockCheck } from './overlay.js';
import { TABLES } from './store.js';
import type { Store } from './store.js';
import { tableNotFound } from './api-error.js';
import type { Streams } from '../streams/streams.js';
import type { Body, TableDescription } from './types.js';

/** Milliseconds since the epoch. */
export type Clock = () => number;

/** What all operations share: the data, dynalite's modules, the clock, the items that transactions hold. */
export class Engine {
  readonly locks = new Locks();
  readonly #validations = new Map<string, Validation>();

  constructor(
    readonly store: Store,
    readonly dynalite: Dynalite,
    readonly clock: Clock,
    /** How long a transaction holds its items before it commits. */
    readonly transactionMs: number,
    readonly streams: Streams,
  ) {}

  overlay(lockCheck?: LockCheck): Overlay {
    return new Overlay(this.store, this.dynalite.db, lockCheck);
  }

  /** Makes the writes of an overlay and their stream records visible, and durable together. */
  commit(overlay: Overlay, userIdentity?: Body): void {
    const records = this.streams.record(overlay.changes, userIdentity);
    this.store.apply(records.length === 0 ? overlay.ops : [...overlay.ops, ...records]);
  }

  /** The checks of an operation, with fields that dynalite does not know. */
  extendValidation(operation: EngineOperation, fields: FieldTypes, custom?: Validation['custom']): void {
    const known = this.dynalite.validation(operation);
    const validation = { ...known, types: { ...known.types, ...fields } };
    this.#validations.set(operation, custom ? { ...validation, custom } : validation);
  }

  validation(operation: EngineOperation): Validation {
    return this.#validations.get(operation) ?? this.dynalite.validation(operation);
  }

  /** Checks a request as dynalite does; the result holds the parsed expressions too. */
  validate<T = Body>(operation: EngineOperation, request: Body): T {
    const { types } = this.validation(operation);
    const custom = (data: Body): string | undefined => this.refusal(operation, data);
    try {
      return this.check(request, types, custom) as T;
    } catch (error) {
      if (!isApiError(error)) throw error;
      const message = correctedMessage(operation, error.message, request);
      throw message === error.message ? error : validationError(message);
    }
  }

  /** Why a request of the right shape is refused: dynalite's reasons in DynamoDB's words, then what dynalite misses. */
  refusal(operation: EngineOperation, data: Body): string | undefined {
    const { custom } = this.validation(operation);
    const message = checkWithLessNesting(data, () => custom?.(data, this.overlay()) ?? undefined);
    if (!message) return missedByEngine(operation, data);
    const expression = brokenExpression(message);
    const parser = expression === undefined ? undefined : this.dynalite.parsers[expression];
    return (expression && parser && syntaxErrorMessage(expression, data, parser)) ?? message;
  }

  check(request: Body, types: FieldTypes, custom?: Validation['custom']): Body {
    const { checks } = this.dynalite;
    const data = checks.checkTypes(request, types);
    checks.checkValidations(data, types, custom, this.overlay());
    return data;
  }

  /** A table that items are read from or written to. */
  table(name: string): TableDescription {
    const table = this.findTable(name);
    if (!table) throw tableNotFound();
    return table;
  }

  findTable(name: string): TableDescription | undefined {
    return this.store.space<TableDescription>(TABLES).get(name);
  }

  /** Runs an action of dynalite to its end; on our store they all end at once, except Query and Scan. */
  run(operation: EngineOperation, store: EngineStore, data: Body): Body {
    let outcome: { error?: Error | null | undefined; value?: Body | '' | undefined } | undefined;
    this.dynalite.action(operation)(store, data, (error, value) => (outcome = { error, value }));
    if (!outcome) throw new Error(`${operation} did not end at once`);
    if (outcome.error) throw outcome.error;
    return outcome.value || {};
  }

  runAsync(operation: EngineOperation, store: EngineStore, data: Body): Promise<Body> {
    const action: Action = this.dynalite.action(operation);
    return new Promise((resolve, reject) => {
      action(store, data, (error, value) => {
        if (error) reject(error);
        else resolve(value || {});
      });
    });
  }
}
