import { SafeWritesError } from './errors.js';

/**
 * DynamoDB refused a request as invalid: nothing was written. Its own message may quote a value, so this one holds only
 * the words before any that it could quote.
 *
 * @example
 * await orders.get(key).item().catch((error: unknown) => {
 *   if (error instanceof ValidationException) console.log(error.message);
 * });
 */
export class ValidationException extends SafeWritesError {
  static override get kind(): string {
    return 'ValidationException';
  }
  /** The SDK's own error. Neither `cause` nor enumerable: what logs an error would print it, and its message with it. */
  declare readonly sdkError: unknown;

  constructor(sdkError: unknown) {
    // Values stand behind a colon, a quote or a bracket.
    const [said = ''] = /^[a-z ,.]*/i.exec(String((sdkError as Error).message)) ?? [];
    super(`DynamoDB refused the request: ${said} (sdkError.message may quote values)`);
    Object.defineProperty(this, 'sdkError', { value: sdkError });
  }
}
