import { ScanCommand as SdkScanCommand, type ConsumedCapacity, type ScanCommandInput } from '@aws-sdk/client-dynamodb';
import type { AttributeMap } from '../attributes/attribute-value.js';
import type { Field } from '../attributes/fields.js';
import type { IndexNaming } from '../entity/compiled.js';
import type { AnyEntity } from '../entity/entity.js';
import { invalid } from '../errors/errors.js';
import type { Condition } from '../expressions/condition.js';
import type { ReadableRef } from '../expressions/handle.js';
import type { Page } from '../read/page.js';
import { PagedRead } from '../read/paged-read.js';
import type { PagedOptions, PagedOutput, PagedRequest } from '../read/paged-request.js';
import { readerOf, type Source } from '../read/reader.js';
import type { SendOptions } from '../send/send-options.js';
import { readsFrom } from '../table/table.js';
import { segmentPages } from './segments.js';

/**
 * Scan: the items of one entity, wherever they are, in no order. Reads and bills the whole table or index, items of
 * other entities included: half a read unit per 4 KB, one where consistent
 * (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Scan.html).
 *
 * `I` is the item, `O` what a page holds beside.
 */
export interface Scan<E extends AnyEntity, I, O> {
  /** Drops items after they were read and paid for. */
  filter(condition: Condition<E['name']>): Scan<E, I, O>;
  /** Reads what was written last, at twice the cost; not on a global index. */
  consistent(): Scan<E, I, O>;
  /** At most this many items in all; a page reads no more than these, those of other entities included. */
  limit(items: number): Scan<E, I, O>;
  /** Goes on where a page of this scan ended. */
  after(cursor: string | undefined): Scan<E, I, O>;
  /** Reads these attributes only; the cost stays. */
  project<P extends keyof E['~item']>(...attributes: readonly [P, ...P[]]): Scan<E, Pick<E['~item'], P>, O>;
  /** Reads one attribute, or a part of one. */
  select<V>(attribute: ReadableRef<E['name'], V>): SelectScan<V>;
  returnCapacity(): Scan<E, I, O & { readonly consumedCapacity: ConsumedCapacity }>;
  /** Attempts of the SDK for each request, the first included. */
  maxAttempts(attempts: number): Scan<E, I, O>;
  /**
   * Scans in this many segments, 32 of them at once, each reading one page ahead: faster, at the same cost, and it can
   * take the whole throughput of the table. At most 1,000,000.
   */
  segments(total: number): ParallelScan<I>;
  /** One request's items; it may have none and more to come. */
  page(options?: SendOptions): Promise<Page<I> & O>;
  /** All items, a page at a time as they are consumed. */
  items(options?: SendOptions): AsyncIterable<I>;
  /** All items, in memory. */
  all(options?: SendOptions): Promise<I[]>;
  /** How many items there are by their stored type, without fetching them; the cost is that of reading them. */
  count(options?: SendOptions): Promise<number>;
  /** The SDK's input of the first request, instead of sending. */
  toRequest(): ScanCommandInput;
  /** The first request as it goes over the wire, instead of sending. */
  toRequestJson(): string;
}

/** A scan of one attribute. */
export interface SelectScan<V> {
  /** See {@link Scan.segments}. */
  segments(total: number): ParallelScan<V>;
  /** All values, a page at a time; undefined where an item lacks the attribute. */
  items(options?: SendOptions): AsyncIterable<V>;
  all(options?: SendOptions): Promise<V[]>;
  toRequest(): ScanCommandInput;
  toRequestJson(): string;
}

/** A scan in segments: many requests, so there is no page of it, and nothing to render. */
export interface ParallelScan<I> {
  /**
   * All items, those of the segments mixed as they come. Where the consumer stops, or a segment fails, all stop; what
   * they read ahead is paid for.
   */
  items(options?: SendOptions): AsyncIterable<I>;
  /** All items, in memory. */
  all(options?: SendOptions): Promise<I[]>;
  /** See {@link Scan.count}. */
  count(options?: SendOptions): Promise<number>;
}

/** The run-time half of {@link Scan}. */
class ScanCommand extends PagedRead {
  constructor(source: Source, filters: readonly unknown[] = [], options: PagedOptions = {}, from?: ScanCommand) {
    super('Scan', source, filters, options, from);
  }

  protected override fork_(filters: readonly unknown[], options: PagedOptions): this {
    return new ScanCommand(this.source_, filters, options, this) as this;
  }

  segments(segments: number): this {
    if (!Number.isSafeInteger(segments) || segments < 1 || segments > 1_000_000) {
      invalid('segments', 'expected a whole number from 1 to 1,000,000');
    }
    return this.with_({ segments_: segments });
  }

  protected override fixed_(): readonly Field[] {
    return [];
  }
  protected override fixedKey_(): AttributeMap {
    return {};
  }

  protected override complete_(request: PagedRequest, _keys: IndexNaming, count: boolean): string | undefined {
    const { segments_: segments, after_: after } = this.options_;
    if (segments !== undefined && after !== undefined) invalid('after', 'a scan in segments has no page to go on from');
    const ofType = this.typeFilter_(request);
    // An item without type is told by its key, once it is read.
    return count || ofType === undefined ? ofType : `(${ofType} OR attribute_not_exists(#type))`;
  }

  protected override sdkCommand_(request: PagedRequest): SdkScanCommand {
    return new SdkScanCommand(request);
  }

  override toRequest(): PagedRequest {
    if (this.options_.segments_ !== undefined) {
      invalid('segments', 'are many requests, so there is no page and nothing to render: take items()');
    }
    return super.toRequest();
  }

  protected override outputs_(
    first: PagedRequest,
    options: SendOptions | undefined,
  ): AsyncGenerator<PagedOutput, void, undefined> {
    const { segments_: segments } = this.options_;
    return segments === undefined
      ? super.outputs_(first, options)
      : segmentPages(first, segments, (request, signal) => this.fetch_(request, { signal }), options?.signal);
  }
}

/**
 * A scan of an entity's items on its table, or on an index. A table holds several entities: DynamoDB drops those of
 * another type after reading them, and what has no type is told by its key.
 *
 * Reads every item of the table or index, so it costs as much as the table is large; for jobs, never for a request.
 *
 * @param source a bound entity, or an index of one
 * @throws InvalidInputError for a filter or projection that the index does not hold, and a cursor of another read
 * @example
 * for await (const order of scan(orders).filter(Order.attrs.total.gt(100)).items()) console.log(order.number);
 * @example const open = await scan(orders).segments(8).count();
 */
export const scan = <E extends AnyEntity>(
  source: { readonly '~e': E } | { readonly '~x': E },
): Scan<E, E['~item'], unknown> => {
  const { binding, index } = readsFrom(source);
  return new ScanCommand({ binding_: binding, index_: index, reader_: readerOf(binding) }) as unknown as Scan<
    E,
    E['~item'],
    unknown
  >;
};
