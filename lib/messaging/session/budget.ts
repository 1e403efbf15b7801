import { LimitExceededError } from '../../commands/index.js';
import { invalid } from '../../commands/errors/errors.js';

const maximumOperations = 100;
const maximumBytes = 4 * 1024 * 1024;
const maximumItemBytes = 409_600;

/** Whose an operation is. */
export type Share = 'inbox' | 'outbox' | 'sagas' | "the handler's own";

const shares: readonly Share[] = ['inbox', 'outbox', 'sagas', "the handler's own"];

interface Entry {
  readonly share: Share;
  /** Tells its item from all others; never part of a message. */
  readonly item: string;
  bytes: number;
}

const digits = (value: number): string => value.toLocaleString('en-US');

/**
 * The room of one transaction: 100 operations, 4 MB, 400 KB an item, each item once. Errors say which operation is
 * refused and what takes the room, by name, count and size.
 */
export class Budget {
  private readonly entries = new Map<string, Entry>();
  private readonly items = new Map<string, string>();
  private bytes = 0;

  /** Takes an operation, or refuses it and stays as it was. */
  take(name: string, entry: Readonly<Entry>): void {
    if (this.entries.has(name)) invalid(name, 'is the name of two operations: give one of them another');
    const other = this.items.get(entry.item);
    if (other !== undefined) invalid(name, `touches the same item as ${other}: a transaction takes each item once`);
    if (this.entries.size >= maximumOperations) {
      const already = `the transaction has ${maximumOperations} operations already, DynamoDB's limit`;
      throw new LimitExceededError(name, `${already}: ${this.account()}`);
    }
    this.check(name, entry.bytes, entry.bytes);
    this.entries.set(name, { ...entry });
    this.items.set(entry.item, name);
    this.bytes += entry.bytes;
  }

  /** Sets what an operation is found to take. */
  resize(name: string, bytes: number): void {
    const entry = this.entries.get(name) as Entry;
    this.check(name, bytes, bytes - entry.bytes);
    this.bytes += bytes - entry.bytes;
    entry.bytes = bytes;
  }

  /** Gives an operation back that turned out to be none. */
  release(name: string): void {
    const entry = this.entries.get(name) as Entry;
    this.entries.delete(name);
    this.items.delete(entry.item);
    this.bytes -= entry.bytes;
  }

  private check(name: string, item: number, more: number): void {
    if (item > maximumItemBytes) {
      throw new LimitExceededError(
        name,
        `has ${digits(item)} bytes, more than the ${digits(maximumItemBytes)} of an item`,
      );
    }
    if (this.bytes + more > maximumBytes) {
      const over = `takes the transaction to ${digits(this.bytes + more)} bytes, more than DynamoDB's 4 MB`;
      throw new LimitExceededError(name, `${over}: it has ${digits(item)}; before it, ${this.account()}`);
    }
  }

  /** Who takes how much. */
  private account(): string {
    const all = [...this.entries];
    const sums = shares.flatMap((share) => {
      const own = all.filter(([, entry]) => entry.share === share);
      const bytes = own.reduce((sum, [, entry]) => sum + entry.bytes, 0);
      return own.length === 0 ? [] : `${share} ${own.length} (${digits(bytes)} bytes)`;
    });
    const largest = all
      .sort(([, a], [, b]) => b.bytes - a.bytes)
      .slice(0, 3)
      .map(([name, { bytes }]) => `${name} (${digits(bytes)} bytes)`);
    return `${sums.join(', ')}; the largest are ${largest.join(', ')}`;
  }
}
