import { brandOf, hasBrand } from './brand.js';

const base = brandOf('error');

/**
 * Base of every error that the kit itself raises. `instanceof` works across two copies of the package. No message
 * contains a key, a value or an item; where code needs one, it is a property.
 *
 * @example
 * await orders.get(key).item().catch((error: unknown) => {
 *   if (error instanceof SafeWritesError) console.log(error.name);
 * });
 */
export class SafeWritesError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    // A subclass of the kit is told by its name: its constructor may be another copy's. One of a user's is told as usual.
    if (!Object.hasOwn(this, 'kind')) return Function.prototype[Symbol.hasInstance].call(this, value);
    return hasBrand(value, base) && (this === SafeWritesError || (value as { kind?: unknown }).kind === this.kind);
  }
  /** @internal */
  static get kind(): string {
    return 'SafeWritesError';
  }
  /** @internal */
  readonly kind: string;
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = new.target.kind;
    this.name = this.kind;
    Object.defineProperty(this, base, { value: 1 });
    Object.defineProperty(this, 'kind', { enumerable: false });
  }
}

/** An error that says where, and begins its message with that. */
abstract class LocatedError extends SafeWritesError {
  readonly path: string;
  constructor(path: string, message: string, options?: ErrorOptions) {
    super(`${path}: ${message}`, options);
    this.path = path;
  }
}

/**
 * What a caller gave is refused, before anything is sent: the message says what was expected.
 *
 * @example
 * try {
 *   toTimestamp('yesterday');
 * } catch (error) {
 *   if (error instanceof InvalidInputError) console.log(error.path);
 * }
 */
export class InvalidInputError extends LocatedError {
  static override get kind(): string {
    return 'InvalidInputError';
  }
  /** The attribute path, clause or step at fault; never a value. */
  declare readonly path: string;
}

/**
 * A stored item doesn't match its entity, so it can't be read as one without losing or inventing something.
 *
 * @example
 * await orders.get(key).item().catch((error: unknown) => {
 *   if (error instanceof InvalidStoredItemError) console.log(error.path);
 * });
 */
export class InvalidStoredItemError extends LocatedError {
  static override get kind(): string {
    return 'InvalidStoredItemError';
  }
  /** The attribute path at fault; never a value. */
  declare readonly path: string;
}

/**
 * A command was sent, rendered or added to a transaction before: build a new one, or fork the chain before its end.
 *
 * @example
 * const paid = orders.update(key).set({ status: 'PAID' });
 * await paid.send();
 * await paid.send().catch((error: unknown) => console.log(error instanceof CommandUsedError)); // true
 */
export class CommandUsedError extends SafeWritesError {
  static override get kind(): string {
    return 'CommandUsedError';
  }
  constructor(what: string) {
    super(`This ${what} was sent, rendered or added to a transaction before; a command is used once. Build a new one.`);
  }
}

/**
 * A request would exceed one of DynamoDB's limits; nothing was sent.
 *
 * @example
 * try {
 *   customers.put({ customer: 'alice', name: 'x'.repeat(500_000), interests: new Set() });
 * } catch (error) {
 *   if (error instanceof LimitExceededError) console.log(error.path);
 * }
 */
export class LimitExceededError extends LocatedError {
  static override get kind(): string {
    return 'LimitExceededError';
  }
  /** The step, item or clause that exceeds the limit. */
  declare readonly path: string;
}

/** Refuses a caller's input. */
export const invalid = (path: string, expected: string): never => {
  throw new InvalidInputError(path, expected);
};

/** Refuses a stored value. */
export const corrupt = (path: string, expected: string): never => {
  throw new InvalidStoredItemError(path, `the stored item has not ${expected} here`);
};
