import { SafeWritesError } from '../../commands/index.js';

/**
 * The next block of {@link hiLo} would go past 2^53 - 1, where numbers stop being exact: take {@link hiLoBigint}, which
 * goes on with the same item.
 *
 * @example
 * await hiLo(shop, { name: 'orders' }).next().catch((error: unknown) => {
 *   if (error instanceof NumbersExhaustedError) console.log('go on with hiLoBigint');
 * });
 */
export class NumbersExhaustedError extends SafeWritesError {
  static override readonly kind = 'NumbersExhaustedError';
  constructor() {
    super('The next block of numbers would go past 2^53 - 1.');
  }
}
