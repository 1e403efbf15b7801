import {
  GetItemCommand,
  type ConsumedCapacity,
  type GetItemCommandInput,
  type GetItemCommandOutput,
} from '@aws-sdk/client-dynamodb';
import type { AttributeMap } from '../attributes/attribute-value.js';
import type { AnyEntity } from '../entity/entity.js';
import { invalid } from '../errors/errors.js';
import type { ReadableRef } from '../expressions/handle.js';
import { projectHandle, projectMembers, type Projection } from '../read/projection.js';
import { notSelected, selected, type Found, type NotFound, type Selected } from '../read/read-results.js';
import { readStepSymbol, type ReadParts, type ReadStep } from '../read/read-step.js';
import { Command, type CommandOptions } from '../send/command.js';
import { sendCommand } from '../send/send-command.js';
import type { SendOptions } from '../send/send-options.js';
import type { Binding } from '../table/table-model.js';

/**
 * GetItem. Cost: half a read unit per 4 KB of the item, a whole one where consistent; a projection doesn't lower it.
 *
 * `I` is the item that it reads, `O` what its result holds beside.
 */
export interface Get<E extends AnyEntity, I, O> extends ReadStep<I> {
  /** Reads what was written last, at twice the cost. */
  consistent(): Get<E, I, O>;
  /** Reads these attributes only; the item's type holds nothing else. */
  project<K extends keyof E['~item']>(...attributes: readonly [K, ...K[]]): Get<E, Pick<E['~item'], K>, O>;
  /** Reads one attribute, or a part of one. */
  select<V>(attribute: ReadableRef<E['name'], V>): GetSelect<V>;
  returnCapacity(): Get<E, I, O & { readonly consumedCapacity: ConsumedCapacity }>;
  /** Attempts of the SDK for this command, the first included. */
  maxAttempts(attempts: number): Get<E, I, O>;
  /** The item, or undefined where there is none. */
  item(options?: SendOptions): Promise<I | undefined>;
  /** The item, with whether it was found and what the read consumed. */
  send(options?: SendOptions): Promise<(Found<I> | NotFound) & O>;
  /** The SDK's input, instead of sending. */
  toRequest(): GetItemCommandInput;
  /** The request as it goes over the wire, instead of sending. */
  toRequestJson(): string;
}

/** A get of one attribute. */
export interface GetSelect<V> {
  consistent(): GetSelect<V>;
  maxAttempts(attempts: number): GetSelect<V>;
  /** The value, once `found` says that there is one; `valueOr(fallback)` where no item means a fallback. */
  send(options?: SendOptions): Promise<Selected<V>>;
  toRequest(): GetItemCommandInput;
  toRequestJson(): string;
}

interface GetOptions extends CommandOptions {
  readonly consistent_?: boolean;
  readonly projection_?: Projection;
  readonly capacity_?: boolean;
}

/** The run-time half of {@link Get}. */
export class GetCommand extends Command {
  protected get what_(): string {
    return 'get';
  }

  constructor(
    private readonly binding_: Binding,
    private readonly key_: AttributeMap,
    private readonly options_: GetOptions = {},
    from?: GetCommand,
  ) {
    super();
    this.made_(binding_.entity_.model_.name, from);
  }

  protected with_(change: GetOptions): this {
    this.refuseUsed_();
    return new GetCommand(this.binding_, this.key_, { ...this.options_, ...change }, this) as this;
  }

  consistent(): GetCommand {
    return this.with_({ consistent_: true });
  }
  project(...attributes: string[]): GetCommand {
    return this.with_({ projection_: projectMembers(this.binding_.entity_, attributes) });
  }
  select(attribute: unknown): GetCommand {
    return this.with_({ projection_: projectHandle(this.binding_.entity_, attribute) });
  }
  returnCapacity(): GetCommand {
    return this.with_({ capacity_: true });
  }

  private use_(): void {
    this.refuseUsed_();
    this.end_();
  }

  toRequest(): GetItemCommandInput {
    this.use_();
    const { consistent_: consistent, projection_: projection, capacity_: capacity } = this.options_;
    const request: GetItemCommandInput = { TableName: this.binding_.table_.name_, Key: this.key_ };
    if (consistent === true) request.ConsistentRead = true;
    if (projection) {
      request.ProjectionExpression = projection.expression_;
      request.ExpressionAttributeNames = projection.names_;
    }
    if (capacity === true) request.ReturnConsumedCapacity = 'TOTAL';
    return request;
  }

  async send(options?: SendOptions): Promise<unknown> {
    const { table_: table, entity_: entity } = this.binding_;
    const { attempts_: attempts, projection_: projection, capacity_: capacity } = this.options_;
    return sendCommand({
      table_: table,
      command_: new GetItemCommand(this.toRequest()),
      attempts_: attempts,
      trace_: { operation: 'GetItem', entity: entity.model_.name },
      options_: options,
      read_: ({ Item: stored, ConsumedCapacity: consumedCapacity }: GetItemCommandOutput) => {
        if (projection?.selected_) {
          return stored ? selected(entity.decodeAt_(stored, projection.selected_)) : notSelected;
        }
        const item = stored && this.decode_(stored);
        const result = { found: stored !== undefined, item };
        return capacity === true ? { ...result, consumedCapacity } : result;
      },
    });
  }

  async item(options?: SendOptions): Promise<unknown> {
    return ((await this.send(options)) as { item: unknown }).item;
  }

  private decode_(stored: AttributeMap): unknown {
    return this.binding_.entity_.decode_(stored, this.options_.projection_?.members_);
  }

  [readStepSymbol](): ReadParts {
    const {
      projection_: projection,
      consistent_: consistent,
      capacity_: capacity,
      attempts_: attempts,
    } = this.options_;
    if (projection?.selected_) invalid('get', 'select() can not stand in a transaction or batch: take project()');
    if (capacity === true || attempts !== undefined) {
      invalid('get', 'returnCapacity() and maxAttempts() can not stand in a transaction or batch: say them there');
    }
    this.use_();
    return {
      table_: this.binding_.table_.name_,
      key_: this.key_,
      consistent_: consistent === true,
      projection_: projection,
      decode_: (item) => this.decode_(item),
    };
  }
}
