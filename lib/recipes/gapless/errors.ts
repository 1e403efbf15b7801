import { SafeWritesError } from '../../commands/index.js';

/**
 * Other writers of a {@link GaplessSequence} were faster until the time was over. Nothing was written and no number was
 * taken: call again, with the same record.
 *
 * @example
 * const Ticket = entity('TICKET', {
 *   pk: 'TICKET#{id}', sk: 'TICKET',
 *   attributes: { id: string(), number: integer() },
 * });
 * try {
 *   await new GaplessSequence(shop, { name: 'tickets' }).assign(shop.of(Ticket), 'number', { id: 'order-1' });
 * } catch (error) {
 *   if (error instanceof SequenceContentionError) console.log('answer 503, with Retry-After');
 * }
 */
export class SequenceContentionError extends SafeWritesError {
  static override get kind(): string {
    return 'SequenceContentionError';
  }
  constructor(timeoutMs: number, cause: unknown) {
    super(`No number could be taken in ${timeoutMs} ms; nothing was written.`, { cause });
  }
}

/**
 * The item of a {@link GaplessSequence} is gone, or its number is smaller than one that this process was given: it was
 * deleted, or restored from a backup. Nothing is written, since numbers would be given twice: set `last` of its item to
 * the greatest number of the records first, then start the process anew.
 *
 * @example
 * const Ticket = entity('TICKET', {
 *   pk: 'TICKET#{id}', sk: 'TICKET',
 *   attributes: { id: string(), number: integer() },
 * });
 * try {
 *   await new GaplessSequence(shop, { name: 'tickets' }).assign(shop.of(Ticket), 'number', { id: 'order-1' });
 * } catch (error) {
 *   if (error instanceof SequenceMovedBackError) console.log('stop, and set the sequence by hand');
 * }
 */
export class SequenceMovedBackError extends SafeWritesError {
  static override get kind(): string {
    return 'SequenceMovedBackError';
  }
  constructor() {
    super('The stored sequence is behind a number that was given already; nothing was written.');
  }
}
