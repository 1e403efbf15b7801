import {
  QueryCommand as SdkQueryCommand,
  type ConsumedCapacity,
  type QueryCommandInput,
} from '@aws-sdk/client-dynamodb';
import type { AttributeMap, AttributeValue } from '../attributes/attribute-value.js';
import type { Field } from '../attributes/fields.js';
import type { AnyEntity, EntityIndex } from '../entity/entity.js';
import { CommandUsedError, invalid } from '../errors/errors.js';
import { conditionOf, type Condition, type Cursor } from '../expressions/condition.js';
import { isHandle, type AttributeHandle } from '../expressions/handle.js';
import { render } from '../expressions/render.js';
import { Token } from '../expressions/shape.js';
import { placeholders } from '../expressions/value-placeholders.js';
import { projectHandle, projectMembers, type Projection } from '../read/projection.js';
import { checkAttempts, limitAttempts } from '../retry/max-attempts.js';
import { httpOptions, type SendOptions } from '../send/send-options.js';
import type { Binding } from '../table/table-model.js';
import { lifeChannel, traced } from '../tracing/channel.js';
import { requestJson } from '../write/request-json.js';
import { readCursor, writeCursor } from './cursor.js';
import { between, compared, fromInputs, startingWith, type SortCondition, type SortOperator } from './key-condition.js';

/** One page of a query or scan. */
export interface Page<I> {
  readonly items: readonly I[];
  /** Items of this page after the filter; those of other entities are not counted. */
  readonly count: number;
  /** Items that DynamoDB read for it, which is what it costs. */
  readonly scannedCount: number;
  readonly hasMore: boolean;
  /** Where the next page starts, for `after(…)`; opaque, and bound to this query. Undefined on the last page. */
  readonly next: string | undefined;
}

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
  select<V>(attribute: AttributeHandle<E['name'], V>): SelectQuery<V>;
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
  /** How many items there are, without fetching them; the cost is that of reading them. */
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

interface QueryOptions {
  readonly consistent?: boolean;
  readonly reverse?: boolean;
  readonly limit?: number;
  readonly after?: string | undefined;
  readonly projection?: Projection;
  readonly capacity?: boolean;
  readonly attempts?: number;
  /** The sort key is compared already: DynamoDB takes one condition on it. */
  readonly sorted?: boolean;
}

/** How stored items become the query's: one entity's, or those of a collection. */
export interface Reader {
  /** Undefined for an item that is none of the query's. */
  read(stored: AttributeMap, projection: Projection | undefined): unknown;
  /** The types it reads, for a count, which sees no items. */
  readonly types: readonly AttributeValue[];
}

type Values = Record<string, unknown>;

/** What stays the same along a chain. */
interface Target {
  readonly binding: Binding;
  readonly index: EntityIndex | undefined;
  readonly given: Values;
  readonly partition: string;
  readonly reader: Reader;
}

const nothing = Symbol('an item of another entity');

/** The run-time half of {@link Query}. */
export class QueryCommand {
  private used = false;
  private constructor(
    private readonly target: Target,
    private readonly sort: SortCondition,
    private readonly filters: readonly unknown[] = [],
    private readonly options: QueryOptions = {},
    from?: QueryCommand,
  ) {
    if (lifeChannel.hasSubscribers) {
      lifeChannel.publish({
        command: this,
        event: 'created',
        from,
        what: `query of ${target.binding.entity.model.name}`,
      });
    }
  }

  static of(binding: Binding, index: EntityIndex | undefined, given: Values, reader = readerOf(binding)): QueryCommand {
    const { model } = binding.entity;
    const { pk, sk } = index ?? model;
    const known = new Set([...pk.inputs, ...(sk?.inputs ?? [])].map((field) => field.name));
    for (const name of Object.keys(given)) if (!known.has(name)) invalid(model.name, 'expected inputs of the key only');
    return new QueryCommand({ binding, index, given, partition: pk.of(given), reader }, fromInputs(sk, given));
  }

  private with(change: QueryOptions): QueryCommand {
    this.refuseUsed();
    return new QueryCommand(this.target, this.sort, this.filters, { ...this.options, ...change }, this);
  }

  private sorted(make: (template: NonNullable<EntityIndex['sk']>, given: Values) => SortCondition): QueryCommand {
    this.refuseUsed();
    const { index, binding, given } = this.target;
    const template = (index ?? binding.entity.model).sk;
    if (template === undefined) return invalid('query', 'there is no sort key to compare');
    if (this.options.sorted === true) invalid('query', 'takes one condition on the sort key');
    const options = { ...this.options, sorted: true };
    return new QueryCommand(this.target, make(template, given), this.filters, options, this);
  }

  private refuseUsed(): void {
    if (this.used) throw new CommandUsedError('query');
  }

  between(low: Values, high: Values): QueryCommand {
    return this.sorted((template, given) => between(template, given, low, high));
  }
  beginsWith(start: string): QueryCommand {
    return this.sorted((template, given) => startingWith(template, given, start));
  }
  lt(inputs: Values): QueryCommand {
    return this.compared('lt', inputs);
  }
  le(inputs: Values): QueryCommand {
    return this.compared('le', inputs);
  }
  gt(inputs: Values): QueryCommand {
    return this.compared('gt', inputs);
  }
  ge(inputs: Values): QueryCommand {
    return this.compared('ge', inputs);
  }
  private compared(operator: SortOperator, inputs: Values): QueryCommand {
    return this.sorted((template, given) => compared(template, given, operator, inputs));
  }
  filter(condition: unknown): QueryCommand {
    this.refuseUsed();
    conditionOf(condition, this.target.binding.entity.model);
    return new QueryCommand(this.target, this.sort, [...this.filters, condition], this.options, this);
  }
  consistent(): QueryCommand {
    return this.with({ consistent: true });
  }
  reverse(): QueryCommand {
    return this.with({ reverse: true });
  }
  limit(limit: number): QueryCommand {
    if (!Number.isSafeInteger(limit) || limit < 1) invalid('limit', 'expected a whole number from 1 on');
    return this.with({ limit });
  }
  after(cursor: string | undefined): QueryCommand {
    return this.with({ after: cursor });
  }
  project(...attributes: string[]): QueryCommand {
    return this.with({ projection: projectMembers(this.target.binding.entity, attributes) });
  }
  select(attribute: unknown): QueryCommand {
    return this.with({ projection: projectHandle(this.target.binding.entity, attribute) });
  }
  returnCapacity(): QueryCommand {
    return this.with({ capacity: true });
  }
  maxAttempts(attempts: number): QueryCommand {
    return this.with({ attempts: checkAttempts(attempts) });
  }

  /** The key attributes that a cursor holds: all but the partition key, which the query itself says. */
  private cursorNames(): { partition: string; names: string[] } {
    const { index, binding } = this.target;
    const { pk, sk, indexes } = binding.entity.naming;
    const own = sk === undefined ? [] : [sk];
    if (index === undefined) return { partition: pk, names: own };
    const keys = indexes[index.name] as { pk: string; sk: string | undefined };
    return { partition: keys.pk, names: [...(keys.sk === undefined ? [] : [keys.sk]), pk, ...own] };
  }

  private request(count = false): QueryCommandInput {
    const { binding, index, partition, reader } = this.target;
    const { naming } = binding.entity;
    const keys = index === undefined ? naming : (naming.indexes[index.name] as { pk: string; sk: string | undefined });
    const { consistent, reverse, limit, after, projection, capacity } = this.options;
    if (!count) this.refuseUnprojected();
    const at: Cursor = { shape: binding.entity.root.step(Token.Read), values: [] };
    for (const filter of this.filters) {
      this.refusePointless(filter);
      at.shape = at.shape.step(Token.If);
      conditionOf(filter, binding.entity.model).write(at);
    }
    const rendered = render(binding.entity, at.shape, false);
    const names: Record<string, string> = { ...rendered.names, ...projection?.names, '#pk': keys.pk };
    const values: AttributeMap = { ...placeholders(at.values, at.values.length), ':pk': { S: partition } };
    const filters = rendered.condition === undefined ? [] : [`(${rendered.condition})`];
    if (count) {
      // A count sees no items, so DynamoDB has to tell the entity's from others.
      names['#type'] = naming.type;
      filters.push(`#type IN (${reader.types.map((_, i) => `:t${i}`).join(', ')})`);
      reader.types.forEach((type, i) => (values[`:t${i}`] = type));
    }
    const request: QueryCommandInput = {
      TableName: binding.table.name,
      KeyConditionExpression: this.keyCondition(keys.sk, names, values),
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    };
    if (index !== undefined) request.IndexName = index.name;
    if (filters.length > 0)
      request.FilterExpression = filters.length === 1 && !count ? rendered.condition : filters.join(' AND ');
    if (projection !== undefined) request.ProjectionExpression = projection.expression;
    if (count) request.Select = 'COUNT';
    if (consistent === true) request.ConsistentRead = true;
    if (reverse === true) request.ScanIndexForward = false;
    if (limit !== undefined && !count) request.Limit = limit;
    if (capacity === true) request.ReturnConsumedCapacity = 'TOTAL';
    if (after !== undefined) request.ExclusiveStartKey = this.startKey(after, request);
    return request;
  }

  private keyCondition(sk: string | undefined, names: Record<string, string>, values: AttributeMap): string {
    const { sort } = this;
    if (sort.operator === 'none') return '#pk = :pk';
    names['#sk'] = sk as string;
    if (sort.operator === 'between') {
      values[':low'] = { S: sort.low };
      values[':high'] = { S: sort.high };
      return '#pk = :pk AND #sk BETWEEN :low AND :high';
    }
    values[':sk'] = { S: sort.text };
    return sort.operator === 'equal' ? '#pk = :pk AND #sk = :sk' : '#pk = :pk AND begins_with(#sk, :sk)';
  }

  /** What makes two requests the same query. */
  private identity(request: QueryCommandInput): string[] {
    return [
      request.TableName ?? '',
      request.IndexName ?? '',
      this.target.partition,
      JSON.stringify(this.sort),
      request.FilterExpression ?? '',
      requestJson(request.ExpressionAttributeValues ?? {}),
      this.options.reverse === true ? 'r' : '',
    ];
  }

  /** DynamoDB refuses a filter on its key attributes; on our inputs it would be paid for and change nothing. */
  private refusePointless(filter: unknown): void {
    const { index, binding, given } = this.target;
    const { model } = binding.entity;
    const { pk, sk } = index ?? model;
    const keys = [...model.keyInputs, ...pk.inputs, ...(sk?.inputs ?? [])];
    const projected = index?.project === undefined ? undefined : projectedMembers(index, keys);
    const fixed = [...pk.inputs, ...(sk?.inputs ?? []).filter((field) => given[field.name] !== undefined)];
    for (const handle of handlesOf(filter)) {
      if (fixed.some((field) => field.path === handle)) {
        invalid(handle, 'is fixed by the key condition already: filter by something else');
      }
      if (projected?.has(handle) === false) {
        invalid(handle, `is not projected into the index ${index?.name ?? ''}, so a filter can't read it`);
      }
    }
  }

  /** An index that doesn't project everything gives no whole items. */
  private refuseUnprojected(): void {
    const { index, binding } = this.target;
    if (index?.project === undefined) return;
    const { projection } = this.options;
    const keys = [...binding.entity.model.keyInputs, ...index.pk.inputs, ...(index.sk?.inputs ?? [])];
    const projected = projectedMembers(index, keys);
    const { selected } = projection ?? {};
    const wanted = selected === undefined ? projection?.members : [(selected.top ?? selected).path];
    if (wanted === undefined || [...wanted].some((member) => !projected.has(member))) {
      invalid(
        'project',
        `the index ${index.name} holds only ${[...projected].join(', ')}: project these, or some of them`,
      );
    }
  }

  private use(): void {
    this.refuseUsed();
    this.used = true;
    if (lifeChannel.hasSubscribers) lifeChannel.publish({ command: this, event: 'used' });
  }

  toRequest(): QueryCommandInput {
    const request = this.request();
    this.use();
    return request;
  }

  toRequestJson(): string {
    return requestJson(this.toRequest());
  }

  private async fetch(request: QueryCommandInput, options: SendOptions | undefined): Promise<Page<unknown>> {
    const { binding, reader } = this.target;
    const { table, entity } = binding;
    const { attempts, projection, capacity } = this.options;
    const command = new SdkQueryCommand(request);
    if (attempts !== undefined) await limitAttempts(table.client, command, attempts);
    return traced({ operation: 'Query', table: table.name, entity: entity.model.name }, async (context) => {
      const output = await table.client.send(command, httpOptions(options));
      context.outcome = 'ok';
      const items = (output.Items ?? [])
        .map((stored) => reader.read(stored, projection))
        .filter((item) => item !== nothing);
      const last = output.LastEvaluatedKey;
      const page = {
        items,
        count: request.Select === 'COUNT' ? (output.Count ?? 0) : items.length,
        scannedCount: output.ScannedCount ?? 0,
        hasMore: last !== undefined,
        next: last && writeCursor(last, this.cursorNames().names, this.identity(request)),
      };
      return capacity === true ? { ...page, consumedCapacity: output.ConsumedCapacity } : page;
    });
  }

  async page(options?: SendOptions): Promise<Page<unknown>> {
    return this.fetch(this.toRequest(), options);
  }

  async *items(options?: SendOptions): AsyncGenerator<unknown, void, undefined> {
    let left = this.options.limit ?? Infinity;
    for await (const page of this.pages(this.toRequest(), options)) {
      for (const item of page.items) {
        yield item;
        if (--left === 0) return;
      }
    }
  }

  private async *pages(request: QueryCommandInput, options: SendOptions | undefined): AsyncGenerator<Page<unknown>> {
    for (let next = request; ;) {
      const page = await this.fetch(next, options);
      yield page;
      if (page.next === undefined) return;
      next = { ...request, ExclusiveStartKey: this.startKey(page.next, request) };
    }
  }

  /** Where a cursor of this query goes on; the partition is the query's, whatever the cursor says. */
  private startKey(cursor: string, request: QueryCommandInput): AttributeMap {
    const { names, partition } = this.cursorNames();
    return { ...readCursor(cursor, names, this.identity(request)), [partition]: { S: this.target.partition } };
  }

  async all(options?: SendOptions): Promise<unknown[]> {
    const items: unknown[] = [];
    for await (const item of this.items(options)) items.push(item);
    return items;
  }

  async first(options?: SendOptions): Promise<unknown> {
    const request = this.toRequest();
    // A filter, or an item of another entity, may leave nothing of a page of one.
    if (this.filters.length === 0) request.Limit = 1;
    for await (const page of this.pages(request, options)) {
      if (page.items.length > 0) return page.items[0];
    }
    return undefined;
  }

  async count(options?: SendOptions): Promise<number> {
    const request = this.request(true);
    this.use();
    const { limit = Infinity } = this.options;
    let count = 0;
    for await (const page of this.pages(request, options)) {
      count += page.count;
      if (count >= limit) return limit;
    }
    return count;
  }
}

const projectedMembers = (index: EntityIndex, keys: readonly Field[]): Set<string> =>
  new Set([...keys.map((field) => field.path), ...(index.project === 'keys' ? [] : (index.project ?? []))]);

/** The top-level members that a condition looks at. */
const handlesOf = (condition: unknown): string[] => {
  const node = condition as { data?: unknown; left?: unknown; right?: unknown } | undefined;
  if (node === undefined) return [];
  const inserts = (node.data as { inserts?: readonly unknown[] } | undefined)?.inserts ?? [node.data];
  const own = inserts.filter(isHandle).map((handle) => (handle.top ?? handle).path);
  return [...own, ...handlesOf(node.left), ...handlesOf(node.right)];
};

const readerOf = ({ entity }: Binding): Reader => ({
  types: [entity.model.type],
  read: (stored, projection) => {
    if (projection?.selected !== undefined) return entity.decodeAt(stored, projection.selected);
    return entity.owns(stored) ? entity.decode(stored, projection?.members) : nothing;
  },
});

/** Says that a stored item is none of the query's. */
export const otherEntity: unknown = nothing;
