import { SafeWritesError } from '../../commands/index.js';

/**
 * Records of a batch failed and can't be named one by one: the mapping takes no partial responses, or one of them has no
 * identifier. Thrown, it makes Lambda deliver the whole batch again, so that nothing that failed is acknowledged; what was
 * done will be done a second time.
 *
 * @example
 * const handler = batchHandler({
 *   decode: { sqs: sqsMessages(json()) },
 *   handle: () => Promise.reject(new Error('not now')),
 *   partialResponses: false,
 * });
 * await handler({ Records: [] }).catch((error: unknown) => {
 *   if (error instanceof BatchFailedError) console.log(error.failed);
 * });
 */
export class BatchFailedError extends SafeWritesError {
  static override get kind(): string {
    return 'BatchFailedError';
  }
  /** How many records were not done. */
  readonly failed: number;
  constructor(failed: number, records: number, why: string) {
    super(`${failed} of ${records} records were not done, and ${why}: the whole batch must come again.`);
    this.failed = failed;
  }
}
