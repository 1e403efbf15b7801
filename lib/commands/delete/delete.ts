import { DeleteItemCommand, type DeleteItemCommandInput } from '@aws-sdk/client-dynamodb';
import type { AttributeMap, AttributeValue } from '../attributes/attribute-value.js';
import type { AnyEntity } from '../entity/entity.js';
import type { Condition, Cursor } from '../expressions/condition.js';
import type { Shape } from '../expressions/shape.js';
import * as Token from '../expressions/token.js';
import type { SendOptions } from '../send/send-options.js';
import type { Binding } from '../table/table-model.js';
import type { Batchable, Step } from '../write/step.js';
import { WriteCommand, noOptions, type BuiltWrite, type WriteOptions } from '../write/write-command.js';
import type { HasCapacity, HasItem, HasMetrics, NotMet, Written } from '../write/write-results.js';

/**
 * DeleteItem. Deleting what is not there succeeds; whether something was removed is a question for `returnOld()`. Cost:
 * one write unit per KB of the item, at least one.
 */
export interface Delete<E extends AnyEntity, O, F> extends Step<F>, Promise<Written & O> {
  /** Adds a condition; conditions join with AND, each in parentheses. */
  if(condition: Condition<E['name']>): Delete<E, O, F>;
  /** Only where an item has this key. */
  ifExists(): Delete<E, O, F>;
  /** The result's `item` is the removed one, if there was one. */
  returnOld(): Delete<E, O & HasItem<E['~item'] | undefined>, F>;
  /** Where the condition fails, `item` is what it saw, at no cost. */
  returnOldOnFailure(): Delete<E, O, HasItem<E['~item'] | undefined>>;
  returnCapacity(of?: 'total' | 'indexes'): Delete<E, O & HasCapacity, F>;
  returnItemCollectionMetrics(): Delete<E, O & HasMetrics, F>;
  /** Attempts of the SDK for this command, the first included (docs/retries.md). */
  maxAttempts(attempts: number): Delete<E, O, F>;
  /**
   * Sends it.
   * @throws ConditionalCheckFailedException where the condition does not hold
   */
  send(options?: SendOptions): Promise<Written & O>;
  /** Sends it, and answers a failed condition instead of throwing. */
  trySend(options?: SendOptions): Promise<(Written & O) | (NotMet & F)>;
  /** The SDK's input, instead of sending. */
  toRequest(): DeleteItemCommandInput;
  /** The request as it goes over the wire, instead of sending. */
  toRequestJson(): string;
}

/** The delete by key of an entity with `version()`, before it said what becomes of the version: it can't be sent. */
export interface UnversionedDelete<E extends AnyEntity, O, F> {
  if(condition: Condition<E['name']>): UnversionedDelete<E, O, F>;
  ifExists(): UnversionedDelete<E, O, F>;
  returnOld(): UnversionedDelete<E, O & HasItem<E['~item'] | undefined>, F>;
  returnOldOnFailure(): UnversionedDelete<E, O, HasItem<E['~item'] | undefined>>;
  maxAttempts(attempts: number): UnversionedDelete<E, O, F>;
  /** Only where this version is stored. */
  ifVersion(version: number): Delete<E, O, F>;
  /** Whatever version is stored. */
  ignoreVersion(): Delete<E, O, F> & Batchable;
}

/** The run-time half of {@link Delete}. */
export class DeleteCommand extends WriteCommand {
  constructor(
    binding: Binding,
    private readonly key_: AttributeMap,
    shape: Shape = binding.entity_.root_.step_(Token.Delete),
    values: AttributeValue[] = [],
    count = 0,
    options: WriteOptions = noOptions,
    from?: WriteCommand,
  ) {
    super('Delete', binding, shape, values, count, options, from);
  }

  /** The delete of an item that was read: of a versioned entity, only where it is still of that version. */
  static ofItem_(binding: Binding, item: Record<string, unknown>): DeleteCommand {
    const { version_: version } = binding.entity_.model_;
    const command = new DeleteCommand(binding, binding.entity_.key_(item));
    return version === undefined ? command : command.ifVersion(item[version.name_] as number);
  }

  protected override fork_(shape: Shape, values: AttributeValue[], count: number, options: WriteOptions): this {
    return new DeleteCommand(this.binding_, this.key_, shape, values, count, options, this) as this;
  }

  override storedKey_(): AttributeMap {
    return this.key_;
  }

  protected override build_(at: Cursor): BuiltWrite {
    this.checkVersionDecision_();
    return this.buildByKey_(at);
  }

  protected override sdkCommand_(request: DeleteItemCommandInput): DeleteItemCommand {
    return new DeleteItemCommand(request);
  }
}
