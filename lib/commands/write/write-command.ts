import type { AttributeMap, AttributeValue } from '../attributes/attribute-value.js';
import { CommandUsedError, InvalidStoredItemError, invalid } from '../errors/errors.js';
import { ConditionalCheckFailedException } from '../errors/exceptions.js';
import { conditionOf, type Cursor } from '../expressions/condition.js';
import { render } from '../expressions/render.js';
import { Token, type Rendered, type Shape } from '../expressions/shape.js';
import { placeholders } from '../expressions/value-placeholders.js';
import { checkAttempts, limitAttempts } from '../retry/max-attempts.js';
import { explained, isNamed, readSeen } from '../send/failures.js';
import { httpOptions, type SendOptions } from '../send/send-options.js';
import type { Binding } from '../table/table-model.js';
import { lifeChannel, traced } from '../tracing/channel.js';
import { SentOnce } from './sent-once.js';
import { stepSymbol, type StepParts } from './step.js';
import { requestJson } from './request-json.js';

/** What the rarer clauses say; replaced, never changed, so that forks share it. */
export interface WriteOptions {
  readonly returns?: 'ALL_OLD' | 'ALL_NEW' | 'UPDATED_NEW' | undefined;
  readonly oldOnFailure?: boolean;
  readonly attempts?: number;
  readonly capacity?: 'TOTAL' | 'INDEXES';
  readonly metrics?: boolean;
  /** The version that the caller says is stored. */
  readonly ifVersion?: number;
  readonly ignoreVersion?: boolean;
  readonly storeKeyInputs?: boolean;
  readonly hasCondition?: boolean;
  /** The version that an update sets itself. */
  readonly setsVersion?: number | undefined;
}

export const noOptions: WriteOptions = Object.freeze({});

/** A request, with what its answer is read by. */
export interface BuiltWrite {
  readonly request: { TableName: string; [name: string]: unknown };
  readonly version: number | undefined;
}

interface SdkCommand {
  readonly middlewareStack: unknown;
}

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
  readonly [Symbol.toStringTag] = 'WriteCommand';
  private used = false;

  constructor(
    readonly kind: 'Put' | 'Update' | 'Delete' | 'ConditionCheck',
    readonly binding: Binding,
    readonly shape: Shape,
    readonly values: AttributeValue[],
    readonly count: number,
    readonly options: WriteOptions,
    from?: WriteCommand,
  ) {
    super();
    if (lifeChannel.hasSubscribers) {
      lifeChannel.publish({ command: this, event: 'created', from, what: `${kind} of ${binding.entity.model.name}` });
    }
  }

  protected abstract fork(shape: Shape, values: AttributeValue[], count: number, options: WriteOptions): this;
  protected abstract build(at: Cursor): BuiltWrite;
  protected abstract sdkCommand(request: never): SdkCommand;
  /** The stored key, for errors and transactions. */
  abstract storedKey(): AttributeMap;

  /** Refuses a chain whose command is used up: it says something that can no longer be sent. */
  protected refuseUsed(): void {
    if (this.used) throw new CommandUsedError(this.kind.toLowerCase());
  }

  /** Where the chain goes on from: the shared values, or a copy where another fork appended. */
  protected cursor(): Cursor {
    this.refuseUsed();
    return {
      shape: this.shape,
      values: this.values.length === this.count ? this.values : this.values.slice(0, this.count),
    };
  }

  protected next(at: Cursor, options = this.options): this {
    return this.fork(at.shape, at.values, at.values.length, options);
  }

  protected with(change: WriteOptions): this {
    this.refuseUsed();
    return this.fork(this.shape, this.values, this.count, { ...this.options, ...change });
  }

  if(condition: unknown): this {
    const at = this.cursor();
    at.shape = at.shape.step(Token.If);
    const node = conditionOf(condition, this.binding.entity.model);
    // An update that created the item stored no inputs, so their comparison would be false of the very item it means.
    const input = node.handles().find((handle) => !(handle.top ?? handle).writable);
    if (input !== undefined) {
      invalid(
        input.path,
        'is an input of the key, which is known: only exists() and notExists() say something of the item',
      );
    }
    node.write(at);
    return this.next(at, { ...this.options, hasCondition: true });
  }

  ifExists(): this {
    return this.require(Token.IfExists);
  }

  ifNotExists(): this {
    return this.require(Token.IfNotExists);
  }

  private require(token: number): this {
    const at = this.cursor();
    at.shape = at.shape.step(token);
    return this.next(at, { ...this.options, hasCondition: true });
  }

  returnOld(): this {
    return this.with({ returns: 'ALL_OLD' });
  }

  returnOldOnFailure(): this {
    return this.with({ oldOnFailure: true });
  }

  returnCapacity(of: 'total' | 'indexes' = 'total'): this {
    return this.with({ capacity: of === 'indexes' ? 'INDEXES' : 'TOTAL' });
  }

  returnItemCollectionMetrics(): this {
    return this.with({ metrics: true });
  }

  maxAttempts(attempts: number): this {
    return this.with({ attempts: checkAttempts(attempts) });
  }

  ignoreVersion(): this {
    return this.with({ ignoreVersion: true });
  }

  ifVersion(version: number): this {
    if (this.binding.entity.model.version === undefined)
      invalid('ifVersion', `${this.binding.entity.model.name} has no version()`);
    if (!Number.isSafeInteger(version) || version < 0) invalid('ifVersion', 'expected the version that was read');
    return this.with({ ifVersion: version });
  }

  /** The version decided on; a type that was cast away must not turn into a write without its check. */
  protected checkVersionDecision(): void {
    const { ifVersion, ignoreVersion } = this.options;
    const { model } = this.binding.entity;
    if (model.version === undefined) return;
    if (ifVersion === undefined && ignoreVersion !== true) {
      invalid(model.name, 'has a version: say ifVersion(n) or ignoreVersion() before the write');
    }
    if (ifVersion !== undefined && ignoreVersion === true) {
      invalid(model.name, 'ifVersion(n) and ignoreVersion() contradict each other: say one');
    }
  }

  private use(): BuiltWrite {
    if (this.used) throw new CommandUsedError(this.kind.toLowerCase());
    const built = this.build(this.cursor());
    this.used = true;
    if (lifeChannel.hasSubscribers) lifeChannel.publish({ command: this, event: 'used' });
    const { request } = built;
    const { returns, oldOnFailure, capacity, metrics } = this.options;
    if (returns !== undefined) request['ReturnValues'] ??= returns;
    if (oldOnFailure === true) request['ReturnValuesOnConditionCheckFailure'] = 'ALL_OLD';
    if (capacity !== undefined) request['ReturnConsumedCapacity'] = capacity;
    if (metrics === true) request['ReturnItemCollectionMetrics'] = 'SIZE';
    return built;
  }

  /** Writes what the expressions of a shape come to into a request. */
  protected expressions(request: Record<string, unknown>, rendered: Rendered, at: Cursor): void {
    if (rendered.update !== undefined) request['UpdateExpression'] = rendered.update;
    if (rendered.condition !== undefined) request['ConditionExpression'] = rendered.condition;
    if (rendered.names !== undefined) request['ExpressionAttributeNames'] = rendered.names;
    const values = placeholders(at.values, at.values.length);
    if (values !== undefined) request['ExpressionAttributeValues'] = values;
  }

  /** A request that holds nothing but a key and what has to be so: a delete, or a check. */
  protected buildByKey(at: Cursor): BuiltWrite {
    const { entity, table } = this.binding;
    const { ifVersion } = this.options;
    if (ifVersion !== undefined) {
      at.shape = at.shape.step(Token.VersionIs);
      at.values.push(entity.model.version?.encode(ifVersion) as AttributeValue);
    }
    const request: BuiltWrite['request'] = { TableName: table.name, Key: this.storedKey() };
    const rendered = this.rendered(at);
    if (rendered.condition !== undefined) this.expressions(request, rendered, at);
    return { request, version: undefined };
  }

  protected rendered(at: Cursor, isUpdate = false): Rendered {
    return render(this.binding.entity, at.shape, isUpdate);
  }

  toRequest(): object {
    const { request } = this.use();
    const names = request['ExpressionAttributeNames'];
    // The names are shared by all commands of this shape; what a caller gets is its own.
    return names === undefined ? request : { ...request, ExpressionAttributeNames: { ...names } };
  }

  toRequestJson(): string {
    return requestJson(this.toRequest());
  }

  override send(options?: SendOptions): Promise<unknown> {
    return this.run(options, false);
  }

  trySend(options?: SendOptions): Promise<unknown> {
    return this.run(options, true);
  }

  private async run(options: SendOptions | undefined, answersFailure: boolean): Promise<unknown> {
    const built = this.use();
    const { table, entity } = this.binding;
    const command = this.sdkCommand(built.request as never);
    const { attempts } = this.options;
    if (attempts !== undefined) await limitAttempts(table.client, command, attempts);
    const trace = { operation: `${this.kind}Item`, table: table.name, entity: entity.model.name };
    return traced(trace, async (context) => {
      try {
        const output = (await table.client.send(command as never, httpOptions(options))) as WriteOutput;
        context.outcome = 'ok';
        return this.result(output, built.version);
      } catch (error) {
        if (!isNamed(error, 'ConditionalCheckFailedException')) throw explained(error);
        const stored = (error as { Item?: AttributeMap }).Item;
        const item = stored && readSeen(() => entity.decode(stored), error);
        if (!answersFailure)
          throw new ConditionalCheckFailedException(this.storedKey(), item, entity.model.name, error);
        context.outcome = 'conditionNotMet';
        return this.options.oldOnFailure === true ? { conditionMet: false, item } : { conditionMet: false };
      }
    });
  }

  private result(output: WriteOutput, version: number | undefined): unknown {
    const result: Record<string, unknown> = { conditionMet: true };
    const { returns, capacity, metrics } = this.options;
    if (returns !== undefined) {
      result['item'] = output.Attributes === undefined ? undefined : this.readReturned(output.Attributes);
    }
    if (version !== undefined) result['version'] = version;
    if (capacity !== undefined) result['consumedCapacity'] = output.ConsumedCapacity;
    if (metrics === true) result['itemCollectionMetrics'] = output.ItemCollectionMetrics;
    return result;
  }

  /** An item that can't be read must not look like a write that failed. */
  private readReturned(stored: AttributeMap): unknown {
    try {
      return this.read(stored);
    } catch (error) {
      if (!(error instanceof InvalidStoredItemError)) throw error;
      const message = 'the write took effect, but the item that it returned does not match its entity';
      throw new InvalidStoredItemError(error.path, message, { cause: error });
    }
  }

  protected read(stored: AttributeMap): unknown {
    return this.binding.entity.decode(stored);
  }

  [stepSymbol](): StepParts {
    const { returns, capacity, metrics, attempts, hasCondition, oldOnFailure, ifVersion } = this.options;
    const refused = [
      returns !== undefined && 'returnOld(), returnNew() and return()',
      capacity !== undefined && 'returnCapacity()',
      metrics === true && 'returnItemCollectionMetrics()',
      attempts !== undefined && 'maxAttempts()',
    ].find(Boolean);
    if (refused !== undefined)
      invalid(this.kind.toLowerCase(), `${String(refused)} can not stand in a transaction or batch: say it there`);
    const { request } = this.use();
    return {
      kind: this.kind,
      request,
      key: this.storedKey(),
      written: (request['Item'] ?? request['ExpressionAttributeValues'] ?? {}) as AttributeMap,
      notInBatch:
        hasCondition === true ||
        oldOnFailure === true ||
        ifVersion !== undefined ||
        request['ConditionExpression'] !== undefined
          ? 'has a condition, which a batch can not hold: for a version, say ignoreVersion()'
          : this.kind === 'Update'
            ? 'is an update, which a batch can not hold'
            : undefined,
      decode: (item) => this.binding.entity.decode(item),
    };
  }
}
