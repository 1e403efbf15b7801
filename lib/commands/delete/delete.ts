import { DeleteItemCommand, type DeleteItemCommandInput } from '@aws-sdk/client-dynamodb';
import type { AnyEntity } from '../entity/entity.js';
import type { Condition, Cursor } from '../expressions/condition.js';
import * as Token from '../expressions/token.js';
import type { SendOptions } from '../send/send-options.js';
import type { Binding } from '../table/table-model.js';
import type { Batchable, Step } from '../write/step.js';
import { WriteCommand, type BuiltWrite } from '../write/write-command.js';
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
  get kind_() {
    return 'Delete' as const;
  }
  protected get sdk_() {
    return DeleteItemCommand;
  }

  protected override build_(at: Cursor): BuiltWrite {
    this.checkVersionDecision_();
    return this.buildByKey_(at);
  }
}

/** A delete by key; what holds more members is taken as the key too. */
export const deleteOf = (binding: Binding, key: Record<string, unknown>): DeleteCommand => {
  const { entity_: entity } = binding;
  return new DeleteCommand(binding, entity.key_(key), entity.root_.step_(Token.Delete));
};

/** A delete of an item as it was read: with its version, where it has one. */
export const deleteItemOf = (binding: Binding, item: Record<string, unknown>): DeleteCommand => {
  const { version_: version } = binding.entity_.model_;
  const command = deleteOf(binding, item);
  return version ? command.ifVersion(item[version.name_] as number) : command;
};
