import type { AttributeMap, AttributeValue } from '../attributes/attribute-value.js';
import { InvalidStoredItemError, invalid } from '../errors/errors.js';
import { ConditionalCheckFailedException } from '../errors/exceptions.js';
import { conditionOf, type Cursor } from '../expressions/condition.js';
import type { Handle } from '../expressions/handle.js';
import { render } from '../expressions/render.js';
import type { Rendered, Shape } from '../expressions/shape.js';
import * as Token from '../expressions/token.js';
import { placeholders } from '../expressions/value-placeholders.js';
import type { CommandOptions } from '../send/command.js';
import { isNamed, readSeen } from '../send/failures.js';
import { sendCommand } from '../send/send-command.js';
import type { SendOptions } from '../send/send-options.js';
import type { Binding } from '../table/table-model.js';
import { SentOnce } from './sent-once.js';
import { stepSymbol, type StepParts } from './step.js';

/** What the rarer clauses say; replaced, never changed, so that forks share it. */
export interface WriteOptions extends CommandOptions {
  readonly returns_?: 'ALL_OLD' | 'ALL_NEW' | 'UPDATED_NEW' | undefined;
  readonly oldOnFailure_?: boolean;
  readonly capacity_?: 'TOTAL' | 'INDEXES';
  readonly metrics_?: boolean;
  /** The version that the caller says is stored. */
  readonly ifVersion_?: number;
  readonly ignoreVersion_?: boolean;
  readonly storeKeyInputs_?: boolean;
  /** The version that an update sets itself. */
  readonly setsVersion_?: number | undefined;
  /** The version of the item that a put was given. */
  readonly putVersion_?: number | undefined;
  /** The one attribute that an update returns. */
  readonly returning_?: Handle;
}

export const noOptions: WriteOptions = Object.freeze({});

/** A request, with what its answer is read by. */
export interface BuiltWrite {
  readonly request_: { TableName: string; [name: string]: unknown };
  readonly version_: number | undefined;
}

/** How the SDK makes its command of a request. */
export type SdkCommand = new (request: never) => { readonly middlewareStack: unknown };

/** What every kind of write is made of. */
export type WriteParts = ConstructorParameters<typeof WriteCommand>;

/** The items of a response that writes have in common. */
interface WriteOutput {
  readonly Attributes?: AttributeMap;
  readonly ConsumedCapacity?: unknown;
  readonly ItemCollectionMetrics?: unknown;
}

/**
 * What put, update and delete share. A chain is an immutable value: a clause gives a new command, and any prefix may be
 * forked. Values are kept in one array that forks share while they only append; the command that finds it longer than
 * it knows takes a copy.
 */
export abstract class WriteCommand extends SentOnce {
  /** A write declares itself a promise, so that linters report one that is dropped. */
  get [Symbol.toStringTag](): string {
    return 'WriteCommand';
  }
  abstract readonly kind_: StepParts['kind_'];
  protected abstract readonly sdk_: SdkCommand;

  protected get what_(): string {
    return this.kind_.toLowerCase();
  }

  constructor(
    readonly binding_: Binding,
    /** The stored key; of a put its item, which holds it. */
    protected readonly target_: AttributeMap,
    readonly shape_: Shape,
    readonly values_: AttributeValue[] = [],
    readonly options_: WriteOptions = noOptions,
    readonly count_ = values_.length,
    from?: WriteCommand,
  ) {
    super();
    this.made_(binding_.entity_.model_.name, from);
  }

  protected abstract build_(at: Cursor): BuiltWrite;

  private fork_(shape: Shape, values: AttributeValue[], count: number, options: WriteOptions): this {
    const { binding_: binding, target_: target } = this;
    return new (this.constructor as new (...parts: WriteParts) => this)(
      binding,
      target,
      shape,
      values,
      options,
      count,
      this,
    );
  }

  /** The stored key, for errors and transactions. */
  storedKey_(): AttributeMap {
    return this.target_;
  }

  /** Where the chain goes on from: the shared values, or a copy where another fork appended. */
  protected cursor_(): Cursor {
    this.refuseUsed_();
    return {
      shape_: this.shape_,
      values_: this.values_.length === this.count_ ? this.values_ : this.values_.slice(0, this.count_),
    };
  }

  protected next_(at: Cursor, options = this.options_): this {
    return this.fork_(at.shape_, at.values_, at.values_.length, options);
  }

  protected with_(change: WriteOptions): this {
    this.refuseUsed_();
    return this.fork_(this.shape_, this.values_, this.count_, { ...this.options_, ...change });
  }

  if(condition: unknown): this {
    const at = this.cursor_();
    at.shape_ = at.shape_.step_(Token.If);
    const node = conditionOf(condition, this.binding_.entity_.model_);
    // An update that created the item stored no inputs, so their comparison would be false of the very item it means.
    const input = node.handles_().find((handle) => !(handle.top_ ?? handle).writable_);
    if (input) {
      invalid(
        input.path_,
        'is an input of the key, which is known: only exists() and notExists() say something of the item',
      );
    }
    node.write_(at);
    return this.next_(at);
  }

  ifExists(): this {
    return this.require_(Token.IfExists);
  }

  ifNotExists(): this {
    return this.require_(Token.IfNotExists);
  }

  private require_(token: number): this {
    const at = this.cursor_();
    at.shape_ = at.shape_.step_(token);
    return this.next_(at);
  }

  returnOld(): this {
    return this.with_({ returns_: 'ALL_OLD' });
  }

  returnOldOnFailure(): this {
    return this.with_({ oldOnFailure_: true });
  }

  returnCapacity(of: 'total' | 'indexes' = 'total'): this {
    return this.with_({ capacity_: of === 'indexes' ? 'INDEXES' : 'TOTAL' });
  }

  returnItemCollectionMetrics(): this {
    return this.with_({ metrics_: true });
  }

  ignoreVersion(): this {
    return this.with_({ ignoreVersion_: true });
  }

  ifVersion(version: number): this {
    if (!this.binding_.entity_.model_.version_)
      invalid('ifVersion', `${this.binding_.entity_.model_.name} has no version()`);
    if (!Number.isSafeInteger(version) || version < 0) invalid('ifVersion', 'expected the version that was read');
    return this.with_({ ifVersion_: version });
  }

  /** The version decided on; a type that was cast away must not turn into a write without its check. */
  protected checkVersionDecision_(): void {
    const { ifVersion_: ifVersion, ignoreVersion_: ignoreVersion } = this.options_;
    const { model_: model } = this.binding_.entity_;
    if (!model.version_) return;
    if (ifVersion === undefined && ignoreVersion !== true) {
      invalid(model.name, 'has a version: say ifVersion(n) or ignoreVersion() before the write');
    }
    if (ifVersion !== undefined && ignoreVersion === true) {
      invalid(model.name, 'ifVersion(n) and ignoreVersion() contradict each other: say one');
    }
  }

  private use_(): BuiltWrite {
    const built = this.build_(this.cursor_());
    this.end_();
    const { request_: request } = built;
    const { returns_: returns, oldOnFailure_: oldOnFailure, capacity_: capacity, metrics_: metrics } = this.options_;
    if (returns) request['ReturnValues'] ??= returns;
    if (oldOnFailure) request['ReturnValuesOnConditionCheckFailure'] = 'ALL_OLD';
    if (capacity) request['ReturnConsumedCapacity'] = capacity;
    if (metrics) request['ReturnItemCollectionMetrics'] = 'SIZE';
    return built;
  }

  /** The request with the expressions of the chain; `compute` adds the values that only they make known. */
  protected request_(at: Cursor, member: object, compute?: (rendered: Rendered) => void): BuiltWrite['request_'] {
    const { entity_: entity, table_: table } = this.binding_;
    const rendered = render(entity, at.shape_, compute !== undefined);
    compute?.(rendered);
    const { update_: update, condition_: condition, names_: names } = rendered;
    const request: BuiltWrite['request_'] = { TableName: table.name_, ...member };
    if (update !== undefined) request['UpdateExpression'] = update;
    if (condition !== undefined) request['ConditionExpression'] = condition;
    if (names) request['ExpressionAttributeNames'] = names;
    const values = placeholders(at.values_, at.values_.length);
    if (values) request['ExpressionAttributeValues'] = values;
    return request;
  }

  /** A request by key, with the version that was said. */
  protected buildByKey_(at: Cursor): BuiltWrite {
    const { ifVersion_: ifVersion } = this.options_;
    if (ifVersion !== undefined) {
      at.shape_ = at.shape_.step_(Token.VersionIs);
      at.values_.push(this.binding_.entity_.model_.version_?.encode_(ifVersion) as AttributeValue);
    }
    return { request_: this.request_(at, { Key: this.target_ }), version_: undefined };
  }

  toRequest(): object {
    const { request_: request } = this.use_();
    const names = request['ExpressionAttributeNames'];
    // The names are shared by all commands of this shape; what a caller gets is its own.
    if (names) request['ExpressionAttributeNames'] = { ...names };
    return request;
  }

  override send(options?: SendOptions): Promise<unknown> {
    return this.run_(options, false);
  }

  trySend(options?: SendOptions): Promise<unknown> {
    return this.run_(options, true);
  }

  private async run_(options: SendOptions | undefined, answersFailure: boolean): Promise<unknown> {
    const built = this.use_();
    const { table_: table, entity_: entity } = this.binding_;
    return sendCommand({
      table_: table,
      command_: new this.sdk_(built.request_ as never),
      attempts_: this.options_.attempts_,
      trace_: { operation: `${this.kind_}Item`, entity: entity.model_.name },
      options_: options,
      read_: (output: WriteOutput) => this.result_(output, built.version_),
      failed_: (error, trace) => {
        if (!isNamed(error, 'ConditionalCheckFailedException')) throw error;
        const stored = (error as { Item?: AttributeMap }).Item;
        const item = stored && readSeen(() => entity.decode_(stored), error);
        if (!answersFailure)
          throw new ConditionalCheckFailedException(this.storedKey_(), item, entity.model_.name, error);
        trace.outcome = 'conditionNotMet';
        return this.options_.oldOnFailure_ === true ? { conditionMet: false, item } : { conditionMet: false };
      },
    });
  }

  private result_(output: WriteOutput, version: number | undefined): unknown {
    const result: Record<string, unknown> = { conditionMet: true };
    const { returns_: returns, capacity_: capacity, metrics_: metrics } = this.options_;
    if (returns) {
      result['item'] = output.Attributes ? this.readReturned_(output.Attributes) : undefined;
    }
    if (version !== undefined) result['version'] = version;
    if (capacity) result['consumedCapacity'] = output.ConsumedCapacity;
    if (metrics === true) result['itemCollectionMetrics'] = output.ItemCollectionMetrics;
    return result;
  }

  /** An item that can't be read must not look like a write that failed. */
  private readReturned_(stored: AttributeMap): unknown {
    try {
      return this.read_(stored);
    } catch (error) {
      if (!(error instanceof InvalidStoredItemError)) throw error;
      const message = 'the write took effect, but the item that it returned does not match its entity';
      throw new InvalidStoredItemError(error.path, message, { cause: error });
    }
  }

  protected read_(stored: AttributeMap): unknown {
    return this.binding_.entity_.decode_(stored);
  }

  [stepSymbol](): StepParts {
    const {
      returns_: returns,
      capacity_: capacity,
      metrics_: metrics,
      attempts_: attempts,
      oldOnFailure_: oldOnFailure,
      ifVersion_: ifVersion,
    } = this.options_;
    const refused = [
      returns !== undefined && 'returnOld(), returnNew() and return()',
      capacity !== undefined && 'returnCapacity()',
      metrics === true && 'returnItemCollectionMetrics()',
      attempts !== undefined && 'maxAttempts()',
    ].find(Boolean);
    if (refused !== undefined)
      invalid(this.what_, `${String(refused)} can not stand in a transaction or batch: say it there`);
    const { request_: request } = this.use_();
    return {
      kind_: this.kind_,
      request_: request,
      key_: this.storedKey_(),
      written_: (request['Item'] ?? request['ExpressionAttributeValues'] ?? {}) as AttributeMap,
      notInBatch_:
        oldOnFailure === true || ifVersion !== undefined || request['ConditionExpression'] !== undefined
          ? 'has a condition, which a batch can not hold: for a version, say ignoreVersion()'
          : this.kind_ === 'Update'
            ? 'is an update, which a batch can not hold'
            : undefined,
      decode_: (item) => this.binding_.entity_.decode_(item),
    };
  }
}
