import type { QueryCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { AttributeMap } from '../attributes/attribute-value.js';
import type { Field } from '../attributes/fields.js';
import type { IndexNaming } from '../entity/compiled.js';
import { invalid } from '../errors/errors.js';
import { conditionOf, type Cursor } from '../expressions/condition.js';
import { parenthesise, render } from '../expressions/render.js';
import * as Token from '../expressions/token.js';
import { placeholders } from '../expressions/value-placeholders.js';
import { Command } from '../send/command.js';
import { sendCommand } from '../send/send-command.js';
import type { SendOptions } from '../send/send-options.js';
import { requestJson } from '../write/request-json.js';
import { readCursor, writeCursor } from './cursor.js';
import { checkFilter, checkProjection } from './index-projection.js';
import type { Page } from './page.js';
import { following, type PagedOptions, type PagedOutput, type PagedRequest } from './paged-request.js';
import { projectHandle, projectMembers } from './projection.js';
import type { Source } from './reader.js';

/** The run-time half of query and scan: chains that end in pages of items. */
export abstract class PagedRead extends Command {
  /** What tells a cursor of another read apart; worked out where there is a cursor. */
  private identity_: () => readonly string[] = () => [];

  constructor(
    private readonly operation_: 'Query' | 'Scan',
    protected readonly source_: Source,
    protected readonly filters_: readonly unknown[],
    protected readonly options_: PagedOptions,
    from: Command | undefined,
  ) {
    super();
    this.made_(source_.reader_.name_, from);
  }

  protected abstract fork_(filters: readonly unknown[], options: PagedOptions): this;
  protected abstract sdkCommand_(request: PagedRequest): QueryCommand | ScanCommand;
  /** Adds what only this operation has; the result is a filter of its own. */
  protected abstract complete_(request: PagedRequest, keys: IndexNaming, count: boolean): string | undefined;
  /** Members that every item has one value of. */
  protected abstract fixed_(): readonly Field[];
  /** What every start key holds, whatever a cursor says. */
  protected abstract fixedKey_(keys: IndexNaming): AttributeMap;

  protected get what_(): string {
    return this.operation_.toLowerCase();
  }

  protected with_(change: PagedOptions): this {
    this.refuseUsed_();
    return this.fork_(this.filters_, { ...this.options_, ...change });
  }

  filter(condition: unknown): this {
    this.refuseUsed_();
    conditionOf(condition, this.source_.binding_.entity_.model_);
    return this.fork_([...this.filters_, condition], this.options_);
  }
  consistent(): this {
    return this.with_({ consistent_: true });
  }
  limit(limit: number): this {
    if (!Number.isSafeInteger(limit) || limit < 1) invalid('limit', 'expected a whole number from 1 on');
    return this.with_({ limit_: limit });
  }
  after(cursor: string | undefined): this {
    return this.with_({ after_: cursor });
  }
  project(...attributes: string[]): this {
    return this.with_({ projection_: projectMembers(this.source_.binding_.entity_, attributes) });
  }
  select(attribute: unknown): this {
    return this.with_({ projection_: projectHandle(this.source_.binding_.entity_, attribute) });
  }
  returnCapacity(): this {
    return this.with_({ capacity_: true });
  }

  /** The key attributes of what is read. */
  private keys_(): IndexNaming {
    const { binding_: binding, index_: index } = this.source_;
    const { naming_: naming } = binding.entity_;
    return index ? (naming.indexes[index.name_] as IndexNaming) : naming;
  }

  /** The key attributes that a cursor holds. */
  private cursorNames_(): string[] {
    const keys = this.keys_();
    const { pk, sk } = this.source_.binding_.entity_.naming_;
    const fixed = this.fixedKey_(keys);
    const names = new Set([keys.pk, keys.sk, pk, sk]);
    return [...names].filter((name): name is string => name !== undefined && fixed[name] === undefined);
  }

  private build_(count: boolean): PagedRequest {
    const { binding_: binding, index_: index } = this.source_;
    const { entity_: entity, table_: table } = binding;
    const {
      consistent_: consistent,
      limit_: limit,
      after_: after,
      projection_: projection,
      capacity_: capacity,
    } = this.options_;
    if (!count) checkProjection(this.source_, projection);
    const at: Cursor = { shape_: entity.root_.step_(Token.Read), values_: [] };
    for (const filter of this.filters_) {
      const condition = conditionOf(filter, entity.model_);
      checkFilter(this.source_, condition, this.fixed_());
      at.shape_ = at.shape_.step_(Token.If);
      condition.write_(at);
    }
    const { condition_: condition, names_: names } = render(entity, at.shape_, false);
    const values = placeholders(at.values_, at.values_.length);
    const request: PagedRequest = { TableName: table.name_ };
    // The names are shared by all commands of this shape.
    if (names) request.ExpressionAttributeNames = { ...names };
    if (values) request.ExpressionAttributeValues = values;
    if (index) request.IndexName = index.name_;
    const own = this.complete_(request, this.keys_(), count);
    const filter =
      own === undefined || condition === undefined ? (own ?? condition) : `${parenthesise(condition)} AND ${own}`;
    if (filter !== undefined) request.FilterExpression = filter;
    this.identity_ = () => this.identify_(request, condition, names);
    // An index that doesn't project everything is not asked for what it may lack: it holds little, and DynamoDB refuses.
    const whole = index?.project_ === undefined;
    if (count && whole) request.Select = 'COUNT';
    else if (projection && whole) {
      request.ProjectionExpression = projection.expression_;
      request.ExpressionAttributeNames = { ...request.ExpressionAttributeNames, ...projection.names_ };
    }
    if (consistent === true) {
      if (this.keys_().pk !== entity.naming_.pk) invalid('consistent', 'a global index has no consistent reads');
      request.ConsistentRead = true;
    }
    if (limit !== undefined && !count) request.Limit = limit;
    if (capacity === true) request.ReturnConsumedCapacity = 'TOTAL';
    if (after !== undefined) {
      const key = readCursor(after, this.cursorNames_(), this.identity_());
      request.ExclusiveStartKey = { ...key, ...this.fixedKey_(this.keys_()) };
    }
    return request;
  }

  /** What makes two requests the same read; a count, which asks for types too, is the same. */
  private identify_(request: PagedRequest, condition: string | undefined, names: object | undefined): string[] {
    const { IndexName = '', KeyConditionExpression = '', ScanIndexForward = true } = request;
    const values = Object.entries(request.ExpressionAttributeValues ?? {}).filter(([name]) => !name.startsWith(':t'));
    return [
      this.operation_,
      this.source_.reader_.name_,
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
  protected typeFilter_(request: PagedRequest): string | undefined {
    const { binding_: binding, reader_: reader, index_: index } = this.source_;
    if (index?.project_) return undefined;
    request.ExpressionAttributeNames = { ...request.ExpressionAttributeNames, '#type': binding.entity_.naming_.type };
    const values = reader.types_.map((type, i) => {
      request.ExpressionAttributeValues = { ...request.ExpressionAttributeValues, [`:t${i}`]: type };
      return `:t${i}`;
    });
    return `#type IN (${values.join(', ')})`;
  }

  /** The first request, which uses the command up. */
  protected use_(count = false): PagedRequest {
    this.refuseUsed_();
    const request = this.build_(count);
    this.end_();
    return request;
  }

  toRequest(): PagedRequest {
    return this.use_();
  }

  protected fetch_(request: PagedRequest, options: SendOptions | undefined): Promise<PagedOutput> {
    const { binding_: binding, reader_: reader } = this.source_;
    return sendCommand({
      table_: binding.table_,
      command_: this.sdkCommand_(request),
      attempts_: this.options_.attempts_,
      trace_: { operation: this.operation_, entity: reader.name_ },
      options_: options,
      read_: (output: PagedOutput) => output,
    });
  }

  /** The pages from a request on; a scan of segments has several first ones. */
  protected async *outputs_(
    first: PagedRequest,
    options: SendOptions | undefined,
  ): AsyncGenerator<PagedOutput, void, undefined> {
    for (let request: PagedRequest | undefined = first; request;) {
      const output = await this.fetch_(request, options);
      yield output;
      request = following(request, output);
    }
  }

  private owned_(output: PagedOutput): AttributeMap[] {
    return (output.Items ?? []).filter((stored) => this.source_.reader_.owns_(stored));
  }

  protected read_(output: PagedOutput): unknown[] {
    const { reader_: reader } = this.source_;
    return this.owned_(output).map((stored) => reader.read_(stored, this.options_.projection_));
  }

  async page(options?: SendOptions): Promise<Page<unknown> & { readonly consumedCapacity?: unknown }> {
    const output = await this.fetch_(this.toRequest(), options);
    const items = this.read_(output);
    const last = output.LastEvaluatedKey;
    const page = {
      items,
      count: items.length,
      scannedCount: output.ScannedCount ?? 0,
      hasMore: last !== undefined,
      next: last && writeCursor(last, this.cursorNames_(), this.identity_()),
    };
    return this.options_.capacity_ === true ? { ...page, consumedCapacity: output.ConsumedCapacity } : page;
  }

  async *items(options?: SendOptions): AsyncGenerator<unknown, void, undefined> {
    let left = this.options_.limit_ ?? Infinity;
    for await (const output of this.outputs_(this.use_(), options)) {
      for (const item of this.read_(output)) {
        yield item;
        if (--left === 0) return;
      }
    }
  }

  async all(options?: SendOptions): Promise<unknown[]> {
    const { limit_: limit = Infinity } = this.options_;
    const items: unknown[] = [];
    for await (const output of this.outputs_(this.use_(), options)) {
      for (const item of this.read_(output)) {
        items.push(item);
        // Nothing is asked for beyond it.
        if (items.length >= limit) return items;
      }
    }
    return items;
  }

  async count(options?: SendOptions): Promise<number> {
    const { limit_: limit = Infinity } = this.options_;
    let count = 0;
    for await (const output of this.outputs_(this.use_(true), options)) {
      count += output.Items ? this.owned_(output).length : (output.Count ?? 0);
      if (count >= limit) return limit;
    }
    return count;
  }
}
