import type { QueryCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { AttributeMap } from '../attributes/attribute-value.js';
import type { Field } from '../attributes/fields.js';
import type { IndexNaming } from '../entity/compiled.js';
import { CommandUsedError, invalid } from '../errors/errors.js';
import { conditionOf, type Cursor } from '../expressions/condition.js';
import { parenthesise, render } from '../expressions/render.js';
import { Token } from '../expressions/shape.js';
import { placeholders } from '../expressions/value-placeholders.js';
import { checkAttempts, limitAttempts } from '../retry/max-attempts.js';
import { httpOptions, type SendOptions } from '../send/send-options.js';
import { lifeChannel, traced } from '../tracing/channel.js';
import { requestJson } from '../write/request-json.js';
import { readCursor, writeCursor } from './cursor.js';
import { checkFilter, checkProjection } from './index-projection.js';
import type { Page } from './page.js';
import { following, type PagedOptions, type PagedOutput, type PagedRequest } from './paged-request.js';
import { projectHandle, projectMembers } from './projection.js';
import type { Source } from './reader.js';

/** The run-time half of query and scan: chains that end in pages of items. */
export abstract class PagedRead {
  private used = false;
  /** What tells a cursor of another read apart. */
  private identity: readonly string[] = [];

  constructor(
    private readonly operation: 'Query' | 'Scan',
    protected readonly source: Source,
    protected readonly filters: readonly unknown[],
    protected readonly options: PagedOptions,
    from: object | undefined,
  ) {
    if (lifeChannel.hasSubscribers) {
      const what = `${operation.toLowerCase()} of ${source.reader.name}`;
      lifeChannel.publish({ command: this, event: 'created', from, what });
    }
  }

  protected abstract fork(filters: readonly unknown[], options: PagedOptions): this;
  protected abstract sdkCommand(request: PagedRequest): QueryCommand | ScanCommand;
  /** Adds what only this operation has; the result is a filter of its own. */
  protected abstract complete(request: PagedRequest, keys: IndexNaming, count: boolean): string | undefined;
  /** Members that every item has one value of. */
  protected abstract fixed(): readonly Field[];
  /** What every start key holds, whatever a cursor says. */
  protected abstract fixedKey(keys: IndexNaming): AttributeMap;

  protected refuseUsed(): void {
    if (this.used) throw new CommandUsedError(this.operation.toLowerCase());
  }

  protected with(change: PagedOptions): this {
    this.refuseUsed();
    return this.fork(this.filters, { ...this.options, ...change });
  }

  filter(condition: unknown): this {
    this.refuseUsed();
    conditionOf(condition, this.source.binding.entity.model);
    return this.fork([...this.filters, condition], this.options);
  }
  consistent(): this {
    return this.with({ consistent: true });
  }
  limit(limit: number): this {
    if (!Number.isSafeInteger(limit) || limit < 1) invalid('limit', 'expected a whole number from 1 on');
    return this.with({ limit });
  }
  after(cursor: string | undefined): this {
    return this.with({ after: cursor });
  }
  project(...attributes: string[]): this {
    return this.with({ projection: projectMembers(this.source.binding.entity, attributes) });
  }
  select(attribute: unknown): this {
    return this.with({ projection: projectHandle(this.source.binding.entity, attribute) });
  }
  returnCapacity(): this {
    return this.with({ capacity: true });
  }
  maxAttempts(attempts: number): this {
    return this.with({ attempts: checkAttempts(attempts) });
  }

  /** The key attributes of what is read. */
  private keys(): IndexNaming {
    const { binding, index } = this.source;
    const { naming } = binding.entity;
    return index === undefined ? naming : (naming.indexes[index.name] as IndexNaming);
  }

  /** The key attributes that a cursor holds. */
  private cursorNames(): string[] {
    const keys = this.keys();
    const { pk, sk } = this.source.binding.entity.naming;
    const fixed = this.fixedKey(keys);
    const names = new Set([keys.pk, keys.sk, pk, sk]);
    return [...names].filter((name): name is string => name !== undefined && fixed[name] === undefined);
  }

  private build(count: boolean): PagedRequest {
    const { binding, index } = this.source;
    const { entity, table } = binding;
    const { consistent, limit, after, projection, capacity } = this.options;
    if (!count) checkProjection(this.source, projection);
    const at: Cursor = { shape: entity.root.step(Token.Read), values: [] };
    for (const filter of this.filters) {
      const condition = conditionOf(filter, entity.model);
      checkFilter(this.source, condition, this.fixed());
      at.shape = at.shape.step(Token.If);
      condition.write(at);
    }
    const { condition, names } = render(entity, at.shape, false);
    const values = placeholders(at.values, at.values.length);
    const request: PagedRequest = { TableName: table.name };
    // The names are shared by all commands of this shape.
    if (names !== undefined) request.ExpressionAttributeNames = { ...names };
    if (values !== undefined) request.ExpressionAttributeValues = values;
    if (index !== undefined) request.IndexName = index.name;
    const own = this.complete(request, this.keys(), count);
    const filter =
      own === undefined || condition === undefined ? (own ?? condition) : `${parenthesise(condition)} AND ${own}`;
    if (filter !== undefined) request.FilterExpression = filter;
    this.identity = this.identify(request, condition, names);
    // An index that doesn't project everything is not asked for what it may lack: it holds little, and DynamoDB refuses.
    const whole = index?.project === undefined;
    if (count && whole) request.Select = 'COUNT';
    else if (projection !== undefined && whole) {
      request.ProjectionExpression = projection.expression;
      request.ExpressionAttributeNames = { ...request.ExpressionAttributeNames, ...projection.names };
    }
    if (consistent === true) {
      if (this.keys().pk !== entity.naming.pk) invalid('consistent', 'a global index has no consistent reads');
      request.ConsistentRead = true;
    }
    if (limit !== undefined && !count) request.Limit = limit;
    if (capacity === true) request.ReturnConsumedCapacity = 'TOTAL';
    if (after !== undefined) {
      const key = readCursor(after, this.cursorNames(), this.identity);
      request.ExclusiveStartKey = { ...key, ...this.fixedKey(this.keys()) };
    }
    return request;
  }

  /** What makes two requests the same read; a count, which asks for types too, is the same. */
  private identify(request: PagedRequest, condition: string | undefined, names: object | undefined): string[] {
    const { IndexName = '', KeyConditionExpression = '', ScanIndexForward = true } = request;
    const values = Object.entries(request.ExpressionAttributeValues ?? {}).filter(([name]) => !name.startsWith(':t'));
    return [
      this.operation,
      this.source.reader.name,
      request.TableName ?? '',
      IndexName,
      KeyConditionExpression,
      String(ScanIndexForward),
      condition ?? '',
      requestJson(names ?? {}),
      requestJson(Object.fromEntries(values)),
    ];
  }

  /** Has DynamoDB tell the read's items from others by their type, where it is sure to be held. */
  protected typeFilter(request: PagedRequest): string | undefined {
    const { binding, reader, index } = this.source;
    if (index?.project !== undefined) return undefined;
    request.ExpressionAttributeNames = { ...request.ExpressionAttributeNames, '#type': binding.entity.naming.type };
    const values = reader.types.map((type, i) => {
      request.ExpressionAttributeValues = { ...request.ExpressionAttributeValues, [`:t${i}`]: type };
      return `:t${i}`;
    });
    return `#type IN (${values.join(', ')})`;
  }

  /** The first request, which uses the command up. */
  protected use(count = false): PagedRequest {
    this.refuseUsed();
    const request = this.build(count);
    this.used = true;
    if (lifeChannel.hasSubscribers) lifeChannel.publish({ command: this, event: 'used' });
    return request;
  }

  toRequest(): PagedRequest {
    return this.use();
  }

  toRequestJson(): string {
    return requestJson(this.toRequest());
  }

  protected async fetch(request: PagedRequest, options: SendOptions | undefined): Promise<PagedOutput> {
    const { binding, reader } = this.source;
    const { table } = binding;
    const { attempts } = this.options;
    const command = this.sdkCommand(request);
    if (attempts !== undefined) await limitAttempts(table.client, command, attempts);
    return traced({ operation: this.operation, table: table.name, entity: reader.name }, async (context) => {
      const output = await table.client.send(command, httpOptions(options));
      context.outcome = 'ok';
      return output;
    });
  }

  /** The pages from a request on; a scan of segments has several first ones. */
  protected async *outputs(
    first: PagedRequest,
    options: SendOptions | undefined,
  ): AsyncGenerator<PagedOutput, void, undefined> {
    for (let request: PagedRequest | undefined = first; request !== undefined;) {
      const output = await this.fetch(request, options);
      yield output;
      request = following(request, output);
    }
  }

  private owned(output: PagedOutput): AttributeMap[] {
    return (output.Items ?? []).filter((stored) => this.source.reader.owns(stored));
  }

  protected read(output: PagedOutput): unknown[] {
    const { reader } = this.source;
    return this.owned(output).map((stored) => reader.read(stored, this.options.projection));
  }

  async page(options?: SendOptions): Promise<Page<unknown> & { readonly consumedCapacity?: unknown }> {
    const output = await this.fetch(this.toRequest(), options);
    const items = this.read(output);
    const last = output.LastEvaluatedKey;
    const page = {
      items,
      count: items.length,
      scannedCount: output.ScannedCount ?? 0,
      hasMore: last !== undefined,
      next: last && writeCursor(last, this.cursorNames(), this.identity),
    };
    return this.options.capacity === true ? { ...page, consumedCapacity: output.ConsumedCapacity } : page;
  }

  async *items(options?: SendOptions): AsyncGenerator<unknown, void, undefined> {
    let left = this.options.limit ?? Infinity;
    for await (const output of this.outputs(this.use(), options)) {
      for (const item of this.read(output)) {
        yield item;
        if (--left === 0) return;
      }
    }
  }

  async all(options?: SendOptions): Promise<unknown[]> {
    const items: unknown[] = [];
    for await (const item of this.items(options)) items.push(item);
    return items;
  }

  async count(options?: SendOptions): Promise<number> {
    const { limit = Infinity } = this.options;
    let count = 0;
    for await (const output of this.outputs(this.use(true), options)) {
      count += output.Items === undefined ? (output.Count ?? 0) : this.owned(output).length;
      if (count >= limit) return limit;
    }
    return count;
  }
}
