import { invalid } from '../../commands/errors/errors.js';
import { type EntityTable, type SendOptions, type Table } from '../../commands/index.js';
import { checkObject, checkOptions, checkTable, isWholeBetween } from '../arguments.js';
import { newerFormat } from '../newer-format.js';
import { hiLoEntity, hiLoFormat } from './hi-lo-entity.js';
import { NumbersExhaustedError } from './numbers-exhausted-error.js';
import { unlessAborted } from './unless-aborted.js';

/** What {@link hiLo} and {@link hiLoBigint} take. */
export interface HiLoOptions {
  /** What the numbers are for: each name has numbers of its own. */
  readonly name: string;
  /** Numbers claimed at once, which are also the most that a stopped process wastes. It may change. @default 100 */
  readonly blockSize?: number;
  /**
   * Claims the next block when this many numbers or fewer are left, so that nobody waits for it. Off by default: in
   * Lambda, work that is pending when the handler returns freezes with it. @default 0
   */
  readonly prefetchAt?: number;
  /** What the item's key starts with, and its type. @default 'HILO' */
  readonly prefix?: string;
}

/** Hands out numbers; made by {@link hiLo} and {@link hiLoBigint}, once per process and name. */
export interface HiLo<N extends number | bigint> {
  /**
   * A number that no other call, in any process, gets. The signal ends this wait only: the claim goes on for the others.
   * @throws NumbersExhaustedError for numbers that would not be exact; what the claim failed with, to all that wait for
   *   it; the next call claims anew
   */
  next(options?: SendOptions): Promise<N>;
}

/** The numbers that are exact: from the negative of the last to the last. */
interface Range {
  readonly last: bigint;
  readonly digits?: number;
}

const exactNumbers: Range = { last: BigInt(Number.MAX_SAFE_INTEGER) };
/** DynamoDB keeps 38 digits of a number. */
const exactBigints: Range = { last: 10n ** 38n - 1n, digits: 38 };

interface Block {
  next: bigint;
  left: number;
}

class HiLoAllocator<N extends number | bigint> implements HiLo<N> {
  private readonly entity: ReturnType<typeof hiLoEntity>;
  private readonly items: EntityTable<ReturnType<typeof hiLoEntity>>;
  private readonly name: string;
  private readonly blockSize: number;
  private readonly prefetchAt: number;
  /** The block in use, and the prefetched one. */
  private readonly blocks: Block[] = [];
  private claiming: Promise<void> | undefined = undefined;

  constructor(
    table: Table,
    options: HiLoOptions,
    private readonly range: Range,
    private readonly toNumber: (n: bigint) => N,
  ) {
    const { name, blockSize = 100, prefetchAt = 0, prefix } = checkObject(options, 'options');
    if (!isWholeBetween(blockSize, 1)) invalid('blockSize', 'expected a whole number from 1 on');
    if (!isWholeBetween(prefetchAt, 0, blockSize - 1))
      invalid('prefetchAt', 'expected a whole number from 0, which is off, to less than the block size');
    this.entity = hiLoEntity(prefix);
    this.items = checkTable(table).of(this.entity);
    this.name = name;
    this.blockSize = blockSize;
    this.prefetchAt = prefetchAt;
  }

  async next(options: SendOptions = {}): Promise<N> {
    const { signal } = checkOptions(options);
    for (;;) {
      signal?.throwIfAborted();
      const number = this.take();
      if (number !== undefined) return this.toNumber(number);
      await unlessAborted(this.claim(), signal);
    }
  }

  private take(): bigint | undefined {
    const [block] = this.blocks;
    if (block === undefined) return undefined;
    const number = block.next;
    block.next += 1n;
    block.left -= 1;
    if (block.left === 0) this.blocks.shift();
    const left = this.blocks.reduce((sum, { left }) => sum + left, 0);
    if (this.prefetchAt > 0 && left <= this.prefetchAt) void this.claim();
    return number;
  }

  /** One claim in flight, however many wait for it. */
  private claim(): Promise<void> {
    if (this.claiming === undefined) {
      this.claiming = this.claimBlock().finally(() => (this.claiming = undefined));
      // A prefetch, or a claim that all waiters gave up, fails with nobody to hear it.
      this.claiming.catch(() => undefined);
    }
    return this.claiming;
  }

  private async claimBlock(): Promise<void> {
    const { name, hi, format } = this.entity.attrs;
    const claimed = await this.items
      .update({ name: this.name })
      .add(hi, BigInt(this.blockSize))
      .setIfNotExists(format, hiLoFormat)
      // An item that lost its number, by other hands, would give all numbers again.
      .if(name.notExists().or(hi.isType('N').and(format.le(hiLoFormat))))
      .returnNew()
      .returnOldOnFailure()
      .trySend();
    if (!claimed.conditionMet) return newerFormat('the sequence was written');
    const end = claimed.item.hi;
    const next = end - BigInt(this.blockSize) + 1n;
    const { last, digits } = this.range;
    if (end > last || next < -last) throw new NumbersExhaustedError(digits);
    this.blocks.push({ next, left: this.blockSize });
  }
}

/**
 * Hi/lo numbers: unique over all processes, without a write per number. One add claims a block, the process hands it out
 * from memory, and claims the next when it is used up. One claim is in flight however many callers wait; with more
 * waiters than a block has numbers, one claim follows another. The table needs a sort key.
 *
 * Numbers are unique, not gapless and not in order over processes: a process that stops leaves the rest of its block
 * unused, and the client's own retry after a lost response claims a block twice and wastes one, which is why this write
 * needs no `maxAttempts(1)`. Gaps are fine for ids and wrong for invoice numbers: those take {@link GaplessSequence}.
 * Make one allocator per process and name, outside of the handler: each new one claims a block of its own.
 *
 * Cost: one request and one write unit per block, so 1/100 per number by default; a repeat costs a block. There is no
 * condition on the number, so no conflict.
 *
 * @example
 * const orderNumbers = hiLo(shop, { name: 'orders' });
 * const number = await orderNumbers.next();
 */
export const hiLo = (table: Table, options: HiLoOptions): HiLo<number> =>
  new HiLoAllocator(table, options, exactNumbers, Number);

/**
 * {@link hiLo} for numbers of up to 38 digits, as bigints. It may follow `hiLo` of the same name.
 *
 * @example
 * const eventNumbers = hiLoBigint(shop, { name: 'events', blockSize: 1000, prefetchAt: 200 });
 * const number = await eventNumbers.next();
 */
export const hiLoBigint = (table: Table, options: HiLoOptions): HiLo<bigint> =>
  new HiLoAllocator(table, options, exactBigints, (n) => n);
