import { SafeWritesError } from '../../commands/index.js';

/**
 * Why a record will fail however often it comes. `body`: it has no body, value or image. `encoding`: it is no base64 or
 * UTF-8. `json`: it is no JSON. `envelope`: it is not what SNS or EventBridge sends. `decoder`: a decoder of the user's
 * threw. `image`: an item of a stream does not match its entity. `identity`: a message has no identity. `version`: an
 * event has no version that orders it. `content`: an event can't be written. `late`: an event is older than deletions are
 * kept. `target`: the target refuses an event that a change was mapped to.
 */
export type PoisonReason =
  | 'body'
  | 'encoding'
  | 'json'
  | 'envelope'
  | 'decoder'
  | 'image'
  | 'identity'
  | 'version'
  | 'content'
  | 'late'
  | 'target';

/**
 * A record that will fail however often it comes, so that it is not tried again: it goes to the failure destination with
 * its reason. Decoders throw it, and a handler may: for what is readable and makes no sense. The message stands in logs, so
 * it says what is wrong, and quotes nothing of the record.
 *
 * @example
 * const handler = batchHandler({
 *   decode: { sqs: sqsMessages(json<{ amount: number }>()) },
 *   handle: ({ body }) => {
 *     if (body.amount < 0) throw new PoisonRecordError('content', 'the amount is negative');
 *   },
 * });
 */
export class PoisonRecordError extends SafeWritesError {
  static override get kind(): string {
    return 'PoisonRecordError';
  }
  /** What is wrong with it. */
  readonly reason: PoisonReason;
  constructor(reason: PoisonReason, message: string, options?: ErrorOptions) {
    super(`The record can not be handled: ${message}.`, options);
    this.reason = reason;
  }
}

/** Refuses a record. */
export const poison = (reason: PoisonReason, message: string): never => {
  throw new PoisonRecordError(reason, message);
};
