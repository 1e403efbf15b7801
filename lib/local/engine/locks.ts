import { serviceError } from './api-error.js';

export const CONFLICT_MESSAGE = 'Transaction is ongoing for the item';

/** The items that transactions in flight have taken. Nobody waits for one: whoever meets it is told of the conflict. */
export class Locks {
  readonly #held = new Set<string>();

  isHeld(table: string, key: string): boolean {
    return this.#held.size > 0 && this.#held.has(lockName(table, key));
  }

  /** For a plain write: throws when a transaction holds the item. */
  readonly refuse = (table: string, key: string): void => {
    if (this.isHeld(table, key)) throw serviceError('TransactionConflictException', CONFLICT_MESSAGE);
  };

  take(items: readonly { table: string; key: string }[]): () => void {
    const names = items.map(({ table, key }) => lockName(table, key));
    for (const name of names) this.#held.add(name);
    return () => {
      for (const name of names) this.#held.delete(name);
    };
  }
}

const lockName = (table: string, key: string): string => `${table}/${key}`;
