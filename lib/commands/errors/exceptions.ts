import type { AttributeMap } from '../attributes/attribute-value.js';
import { hideItems } from '../send/failures.js';
import { SafeWritesError } from './errors.js';

/**
 * The condition of a write did not hold, and nothing was written. Named as DynamoDB names it; `cause` is the SDK's own
 * exception. The message holds neither key nor item: they are properties, for code.
 *
 * @example
 * try {
 *   await products.update({ id: 'KB-01' }).set({ price: 79 }).if(Product.attrs.stock.gt(0)).returnOldOnFailure();
 * } catch (error) {
 *   if (error instanceof ConditionalCheckFailedException) console.log(error.itemAs(Product)?.price);
 * }
 */
export class ConditionalCheckFailedException extends SafeWritesError {
  static override get kind(): string {
    return 'ConditionalCheckFailedException';
  }
  /** The stored primary key of the item. */
  readonly key: AttributeMap;
  /** What the condition saw, read as its entity; only where `returnOldOnFailure()` asked and an item was there. */
  readonly item: unknown;
  private readonly entity: string;

  constructor(key: AttributeMap, item: unknown, entity: string, cause: unknown) {
    super(`The condition of a write of ${entity} did not hold; nothing was written.`, { cause: hideItems(cause) });
    this.key = key;
    this.item = item;
    this.entity = entity;
    for (const name of ['key', 'item', 'entity']) Object.defineProperty(this, name, { enumerable: false });
  }

  /**
   * The item that the condition saw, as the entity's type.
   * @returns undefined where no item was there, or none was asked for
   * @throws TypeError where the write was of another entity
   */
  itemAs<I extends object>(entity: { readonly name: string; readonly '~item': I }): I | undefined {
    if (entity.name !== this.entity)
      throw new TypeError(`The failed write was of ${this.entity}, not of ${entity.name}.`);
    return this.item as I | undefined;
  }
}

/** Why one step of a transaction stopped it: DynamoDB's own codes. */
export type CancellationCode =
  | 'ConditionalCheckFailed'
  | 'TransactionConflict'
  | 'ItemCollectionSizeLimitExceeded'
  | 'ProvisionedThroughputExceeded'
  | 'ThrottlingError'
  | 'ValidationError';

/** A step that stopped its transaction. */
export interface StepFailure {
  readonly reason: CancellationCode;
  /** What the step's condition saw, where it asked with `returnOldOnFailure()`. */
  readonly item?: unknown;
}

/**
 * A transaction was cancelled, and none of its steps was written. `failed` holds the steps that stopped it, by their
 * names; `cause` is the SDK's own exception.
 *
 * @example
 * try {
 *   await transactWrite(shop, { email: mails.unique({ address, owner }) });
 * } catch (error) {
 *   if (error instanceof TransactionCanceledException) console.log(error.failed['email']?.reason);
 * }
 */
export class TransactionCanceledException extends SafeWritesError {
  static override get kind(): string {
    return 'TransactionCanceledException';
  }
  /** The steps that stopped it. */
  readonly failed: Readonly<Record<string, StepFailure>>;

  constructor(failed: Readonly<Record<string, StepFailure>>, cause: unknown) {
    const reasons = Object.entries(failed).map(([step, { reason }]) => `${step}: ${reason}`);
    super(`The transaction was cancelled, nothing was written (${reasons.join(', ')}).`, { cause: hideItems(cause) });
    this.failed = failed;
    Object.defineProperty(this, 'failed', { enumerable: false });
  }
}

/**
 * An attempt of a transaction was not answered and may yet take effect, and each one after it was cancelled by another
 * transaction, or throttled: whether it is written, or will be, is not known. `retryOnConflict` throws it at once, since a
 * new transaction could write a second time. Send the same built transaction again within ten minutes of the first time,
 * make the same call again where it has an idempotency key, or read what is stored.
 *
 * @example
 * const pay = transactWrite(shop, { order: orders.update(key).set({ status: 'PAID' }) }).build();
 * await pay.send().catch((error: unknown) => {
 *   if (error instanceof OutcomeUnknownError) return pay.send();
 *   throw error;
 * });
 */
export class OutcomeUnknownError extends SafeWritesError {
  static override get kind(): string {
    return 'OutcomeUnknownError';
  }
  /** The steps that stopped the last attempt. */
  readonly failed: Readonly<Record<string, StepFailure>>;

  constructor(failed: Readonly<Record<string, StepFailure>>, cause: unknown) {
    super(
      'An attempt of the transaction was not answered and may yet take effect; those after it were cancelled. The same request again is safe for ten minutes, a new one is not.',
      { cause },
    );
    this.failed = failed;
    Object.defineProperty(this, 'failed', { enumerable: false });
  }
}
