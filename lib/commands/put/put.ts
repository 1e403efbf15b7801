import { PutItemCommand, type PutItemCommandInput } from '@aws-sdk/client-dynamodb';
import type { AttributeMap, AttributeValue } from '../attributes/attribute-value.js';
import type { AnyEntity } from '../entity/entity.js';
import { invalid } from '../errors/errors.js';
import type { Condition, Cursor } from '../expressions/condition.js';
import * as Token from '../expressions/token.js';
import type { SendOptions } from '../send/send-options.js';
import type { Binding } from '../table/table-model.js';
import type { Batchable, Step } from '../write/step.js';
import { WriteCommand, type BuiltWrite } from '../write/write-command.js';
import type { HasCapacity, HasItem, HasMetrics, NotMet, Written } from '../write/write-results.js';

/**
 * PutItem: replaces the whole item, attributes that the entity does not declare included. Cost: one write unit per KB
 * of the larger of the old and the new item, also where the condition fails.
 *
 * `O` is what a success adds to its result, `F` what a failure adds.
 */
export interface Put<E extends AnyEntity, O, F> extends Step<F>, Promise<Written & O> {
  /** Adds a condition; conditions join with AND, each in parentheses. */
  if(condition: Condition<E['name']>): Put<E, O, F>;
  /** Only where an item has this key. */
  ifExists(): Put<E, O, F>;
  /** Only where no item has this key. */
  ifNotExists(): Put<E, O, F>;
  /** The result's `item` is the replaced one, if there was one. */
  returnOld(): Put<E, O & HasItem<E['~item'] | undefined>, F>;
  /** Where the condition fails, `item` is what it saw, at no cost. */
  returnOldOnFailure(): Put<E, O, HasItem<E['~item'] | undefined>>;
  returnCapacity(of?: 'total' | 'indexes'): Put<E, O & HasCapacity, F>;
  returnItemCollectionMetrics(): Put<E, O & HasMetrics, F>;
  /** Attempts of the SDK for this command, the first included (docs/retries.md). */
  maxAttempts(attempts: number): Put<E, O, F>;
  /**
   * Sends it.
   * @throws ConditionalCheckFailedException where the condition does not hold
   */
  send(options?: SendOptions): Promise<Written & O>;
  /** Sends it, and answers a failed condition instead of throwing. */
  trySend(options?: SendOptions): Promise<(Written & O) | (NotMet & F)>;
  /** The SDK's input, instead of sending. */
  toRequest(): PutItemCommandInput;
  /** The request as it goes over the wire, instead of sending. */
  toRequestJson(): string;
}

/** The put of an entity with `version()`: checks the version of its item unless told not to. */
export interface VersionedPut<E extends AnyEntity, O, F> extends Put<E, O, F> {
  /** Drops the check and keeps the version moving: the item's version plus one is stored. */
  ignoreVersion(): Put<E, O, F> & Batchable;
}

/** The run-time half of {@link Put}. */
export class PutCommand extends WriteCommand {
  get kind_() {
    return 'Put' as const;
  }
  protected get sdk_() {
    return PutItemCommand;
  }

  override ifVersion(): never {
    return invalid('ifVersion', 'a put takes the version from its item');
  }

  override storedKey_(): AttributeMap {
    const { pk, sk } = this.binding_.entity_.naming_;
    const key: AttributeMap = { [pk]: this.target_[pk] as AttributeValue };
    if (sk !== undefined) key[sk] = this.target_[sk] as AttributeValue;
    return key;
  }

  protected override build_(at: Cursor): BuiltWrite {
    const { entity_: entity } = this.binding_;
    const { putVersion_: stored, ignoreVersion_: ignored } = this.options_;
    const { version_: field } = entity.model_;
    let Item = this.target_;
    let version: number | undefined;
    if (field && stored !== undefined) {
      version = stored + 1;
      Item = { ...Item, [entity.storedName_(field)]: field.encode_(version) as AttributeValue };
      if (ignored !== true) {
        at.shape_ = at.shape_.step_(stored === 0 ? Token.IfNotExists : Token.VersionIs);
        if (stored !== 0) at.values_.push(field.encode_(stored) as AttributeValue);
      }
    }
    return { request_: this.request_(at, { Item }), version_: version };
  }
}

/** A put of an item; one without its version is new. */
export const putOf = (binding: Binding, item: Record<string, unknown>): PutCommand => {
  const { entity_: entity } = binding;
  const { version_: version } = entity.model_;
  const encoded = entity.encode_(item);
  const options = version && { putVersion_: (item[version.name_] ?? 0) as number };
  return new PutCommand(binding, encoded, entity.root_.step_(Token.Put), [], options);
};
