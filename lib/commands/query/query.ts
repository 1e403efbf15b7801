import {
  QueryCommand as SdkQueryCommand,
  type ConsumedCapacity,
  type QueryCommandInput,
} from '@aws-sdk/client-dynamodb';
import type { AttributeMap } from '../attributes/attribute-value.js';
import type { Field } from '../attributes/fields.js';
import type { IndexNaming } from '../entity/compiled.js';
import type { AnyEntity, EntityIndex } from '../entity/entity.js';
import { invalid } from '../errors/errors.js';
import type { Condition } from '../expressions/condition.js';
import type { ReadableRef } from '../expressions/handle.js';
import type { KeyTemplate } from '../keys/key-template.js';
import type { Page } from '../read/page.js';
import { PagedRead } from '../read/paged-read.js';
import type { PagedOptions, PagedRequest } from '../read/paged-request.js';
import { readerOf, type Source } from '../read/reader.js';
import type { SendOptions } from '../send/send-options.js';
import type { Binding } from '../table/table-model.js';
import { between, compared, fromInputs, startingWith, type SortCondition, type SortOperator } from './key-condition.js';

/**
 * Query: items of one partition in the order of their sort keys. Cost: the read units of what is read, before the
 * filter: half a unit per 4 KB in all, one where consistent.
 *
 * `I` is the item, `K` the inputs of the key, `O` what a page holds beside.
 */
export interface Query<E extends AnyEntity, I, K, O> {
  /** Both ends included; each side takes inputs of the sort key, from the left. */
  between(low: Partial<K>, high: Partial<K>): Query<E, I, K, O>;
  /** Keys whose next input, which is text, starts with this. */
  beginsWith(start: string): Query<E, I, K, O>;
  /** Less than the key with these inputs. */
  lt(inputs: Partial<K>): Query<E, I, K, O>;
  le(inputs: Partial<K>): Query<E, I, K, O>;
  gt(inputs: Partial<K>): Query<E, I, K, O>;
  ge(inputs: Partial<K>): Query<E, I, K, O>;
  /** Drops items after they were read and paid for. Refuses what the key condition fixes, or the index doesn't hold. */
  filter(condition: Condition<E['name']>): Query<E, I, K, O>;
  /** Reads what was written last, at twice the cost; not on a global index. */
  consistent(): Query<E, I, K, O>;
  /** From the greatest sort key down. */
  reverse(): Query<E, I, K, O>;
  /** At most this many items in all; a page reads no more than these. */
  limit(items: number): Query<E, I, K, O>;
  /** Goes on where a page of this query ended. */
  after(cursor: string | undefined): Query<E, I, K, O>;
  /** Reads these attributes only; the cost stays. */
  project<P extends keyof E['~item']>(...attributes: readonly [P, ...P[]]): Query<E, Pick<E['~item'], P>, K, O>;
  /** Reads one attribute, or a part of one. */
  select<V>(attribute: ReadableRef<E['name'], V>): SelectQuery<V>;
  returnCapacity(): Query<E, I, K, O & { readonly consumedCapacity: ConsumedCapacity }>;
  /** Attempts of the SDK for each request, the first included. */
  maxAttempts(attempts: number): Query<E, I, K, O>;
  /** One request's items. */
  page(options?: SendOptions): Promise<Page<I> & O>;
  /** All items, a page at a time as they are consumed. */
  items(options?: SendOptions): AsyncIterable<I>;
  /** All items, in memory: for partitions that are known to be small. */
  all(options?: SendOptions): Promise<I[]>;
  /** The first item, or undefined. */
  first(options?: SendOptions): Promise<I | undefined>;
  /** How many items there are by their stored type, without fetching them; the cost is that of reading them. */
  count(options?: SendOptions): Promise<number>;
  /** The SDK's input of the first request, instead of sending. */
  toRequest(): QueryCommandInput;
  /** The first request as it goes over the wire, instead of sending. */
  toRequestJson(): string;
}

/** A query of one attribute. */
export interface SelectQuery<V> {
  /** All values, a page at a time; undefined where an item lacks the attribute. */
  items(options?: SendOptions): AsyncIterable<V>;
  all(options?: SendOptions): Promise<V[]>;
  first(options?: SendOptions): Promise<V | undefined>;
  toRequest(): QueryCommandInput;
  toRequestJson(): string;
}

type Values = Record<string, unknown>;

/** What stays the same along a chain. */
interface QuerySource extends Source {
  readonly given_: Values;
  readonly partition_: string;
}

/** The run-time half of {@link Query}. */
export class QueryCommand extends PagedRead {
  declare protected readonly source_: QuerySource;

  constructor(
    source: QuerySource,
    private readonly sort_: SortCondition,
    filters: readonly unknown[] = [],
    options: PagedOptions = {},
    from?: QueryCommand,
  ) {
    super('Query', source, filters, options, from);
  }

  static of(binding: Binding, index: EntityIndex | undefined, inputs: Values): QueryCommand {
    const { model_: model } = binding.entity_;
    if (typeof inputs !== 'object' || inputs === null) invalid(model.name, 'expected an object with inputs of the key');
    const given = { ...inputs };
    const { pk, sk, keyInputs_: keyInputs } = index ?? model;
    const known = new Set(keyInputs.map((field) => field.name_));
    for (const name of Object.keys(given)) if (!known.has(name)) invalid(model.name, 'expected inputs of the key only');
    const source = {
      binding_: binding,
      index_: index,
      given_: given,
      partition_: pk.of(given),
      reader_: readerOf(binding),
    };
    return new QueryCommand(source, fromInputs(sk, given));
  }

  protected override fork_(filters: readonly unknown[], options: PagedOptions): this {
    return new QueryCommand(this.source_, this.sort_, filters, options, this) as this;
  }

  private sorted_(make: (template: KeyTemplate, given: Values) => SortCondition): QueryCommand {
    this.refuseUsed_();
    const { index_: index, binding_: binding, given_: given } = this.source_;
    const template = (index ?? binding.entity_.model_).sk;
    if (!template) return invalid('query', 'there is no sort key to compare');
    if (this.options_.sorted_ === true) invalid('query', 'takes one condition on the sort key');
    const options = { ...this.options_, sorted_: true };
    return new QueryCommand(this.source_, make(template, given), this.filters_, options, this);
  }

  between(low: Values, high: Values): QueryCommand {
    return this.sorted_((template, given) => between(template, given, low, high));
  }
  beginsWith(start: string): QueryCommand {
    return this.sorted_((template, given) => startingWith(template, given, start));
  }
  lt(inputs: Values): QueryCommand {
    return this.compared_('lt', inputs);
  }
  le(inputs: Values): QueryCommand {
    return this.compared_('le', inputs);
  }
  gt(inputs: Values): QueryCommand {
    return this.compared_('gt', inputs);
  }
  ge(inputs: Values): QueryCommand {
    return this.compared_('ge', inputs);
  }
  private compared_(operator: SortOperator, inputs: Values): QueryCommand {
    return this.sorted_((template, given) => compared(template, given, operator, inputs));
  }
  reverse(): this {
    return this.with_({ reverse_: true });
  }

  protected override fixed_(): readonly Field[] {
    const { index_: index, binding_: binding, given_: given } = this.source_;
    const { pk, sk } = index ?? binding.entity_.model_;
    return [...pk.inputs_, ...(sk?.inputs_ ?? []).filter((field) => given[field.name_] !== undefined)];
  }

  protected override fixedKey_({ pk }: IndexNaming): AttributeMap {
    return { [pk]: { S: this.source_.partition_ } };
  }

  protected override complete_(request: PagedRequest, keys: IndexNaming, count: boolean): string | undefined {
    const names: Record<string, string> = { ...request.ExpressionAttributeNames, '#pk': keys.pk };
    const values: AttributeMap = { ...request.ExpressionAttributeValues, ':pk': { S: this.source_.partition_ } };
    request.KeyConditionExpression = `#pk = :pk${this.sortExpression_(keys.sk, names, values)}`;
    request.ExpressionAttributeNames = names;
    request.ExpressionAttributeValues = values;
    if (this.options_.reverse_ === true) request.ScanIndexForward = false;
    // A count sees no items, so DynamoDB has to tell the entity's from others.
    return count ? this.typeFilter_(request) : undefined;
  }

  private sortExpression_(sk: string | undefined, names: Record<string, string>, values: AttributeMap): string {
    const { sort_: sort } = this;
    if (sort.operator === 'none') return '';
    names['#sk'] = sk as string;
    if (sort.operator === 'between') {
      values[':low'] = { S: sort.low };
      values[':high'] = { S: sort.high };
      return ' AND #sk BETWEEN :low AND :high';
    }
    values[':sk'] = { S: sort.text };
    return sort.operator === 'equal' ? ' AND #sk = :sk' : ' AND begins_with(#sk, :sk)';
  }

  protected override sdkCommand_(request: PagedRequest): SdkQueryCommand {
    return new SdkQueryCommand(request);
  }

  async first(options?: SendOptions): Promise<unknown> {
    const request = this.toRequest();
    // A filter, or an item of another entity, may leave nothing of a page of one.
    if (this.filters_.length === 0) request.Limit = 1;
    for await (const output of this.outputs_(request, options)) {
      const items = this.read_(output);
      if (items.length > 0) return items[0];
    }
    return undefined;
  }
}
