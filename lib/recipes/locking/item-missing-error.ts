import { SafeWritesError } from '../../commands/index.js';

/**
 * A read-modify-write found no item of its key, and nothing was written.
 *
 * @example
 * await readModifyWrite(accounts, { id: 'alice' }, (account) => ({ ...account, balance: 0 })).catch((error: unknown) => {
 *   if (error instanceof ItemMissingError) console.log('no such account');
 * });
 */
export class ItemMissingError extends SafeWritesError {
  static override get kind(): string {
    return 'ItemMissingError';
  }
  constructor(entity: string) {
    super(`There is no ${entity} of this key; nothing was written.`);
  }
}
