import { SafeWritesError } from '../../commands/index.js';

/**
 * The next block of {@link hiLo} lies beyond 2^53 - 1 or below its negative, where numbers are not exact: take
 * {@link hiLoBigint}, which goes on with the same item. Its own end are the 38 digits of DynamoDB's numbers.
 *
 * @example
 * await hiLo(shop, { name: 'orders' }).next().catch((error: unknown) => {
 *   if (error instanceof NumbersExhaustedError) console.log('go on with hiLoBigint');
 * });
 */
export class NumbersExhaustedError extends SafeWritesError {
  static override get kind(): string {
    return 'NumbersExhaustedError';
  }
  constructor(digits?: number) {
    super(
      digits === undefined
        ? 'The next block of numbers goes past 2^53 - 1, up or down: go on with hiLoBigint.'
        : `The next block of numbers goes past ${digits} digits.`,
    );
  }
}
