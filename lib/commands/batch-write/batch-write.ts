import {
  BatchWriteItemCommand,
  type BatchWriteItemCommandInput,
  type BatchWriteItemCommandOutput,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import type { AttributeMap } from '../attributes/attribute-value.js';
import { keyId, keyNames } from '../batch/key-id.js';
import { runBatch, type BatchAnswer } from '../batch/run-batch.js';
import { UnprocessedError, type Incomplete } from '../batch/unprocessed-error.js';
import { invalid } from '../errors/errors.js';
import type { CommandOptions } from '../send/command.js';
import { sendCommand } from '../send/send-command.js';
import type { SendOptions } from '../send/send-options.js';
import { tableModelOf, type Table } from '../table/table.js';
import type { TableModel } from '../table/table-model.js';
import type { HasCapacities } from '../transact-write/transact-write.js';
import { SentOnce } from '../write/sent-once.js';
import { isStep, stepSymbol, type Batchable, type StepParts } from '../write/step.js';
import { chunksOf, type RequestItems } from './chunks.js';

/** A batch that was written whole. */
export interface BatchWritten {
  readonly complete: true;
  /** Writes that were done. */
  readonly written: number;
  /** Requests that it took, repeats of what was left unprocessed included. */
  readonly requests: number;
}

/** A batch of which DynamoDB left some writes. */
export interface BatchWrittenPart extends Incomplete {
  readonly written: number;
  /** Positions of the writes that were not done. */
  readonly unprocessed: readonly number[];
}

/**
 * BatchWriteItem: any number of puts and deletes without conditions, over any tables of the client, in requests of 25, 8
 * of them at once, in no order; each item once. It is no transaction: some writes may be done and others not. What
 * DynamoDB leaves unprocessed is sent again with waits. Cost: the write units of each write, one per KB, and one request
 * per 25 writes.
 *
 * The rules: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html.
 *
 * A repeat after a lost response overwrites what another writer wrote in between (docs/retries.md).
 */
export interface BatchWrite<O> extends Promise<BatchWritten & O> {
  /** The sum by table. */
  returnCapacity(): BatchWrite<O & HasCapacities>;
  /** Attempts of the SDK for each request, the first included. */
  maxAttempts(attempts: number): BatchWrite<O>;
  /**
   * Writes them all.
   * @throws UnprocessedError where writes stay unprocessed; its `result` says which. Any other error may come after
   *   some of the writes were done: sending the same batch again is safe as long as nobody else writes the items
   */
  send(options?: SendOptions): Promise<BatchWritten & O>;
  /** Writes them, and answers writes that stay unprocessed instead of throwing. */
  trySend(options?: SendOptions): Promise<(BatchWritten | BatchWrittenPart) & O>;
  /** The SDK's input of the first request, instead of sending. */
  toRequest(): BatchWriteItemCommandInput;
  /** The first request as it goes over the wire, instead of sending. */
  toRequestJson(): string;
}

interface BatchWriteOptions extends CommandOptions {
  readonly capacity?: boolean;
}

/** A whole batch as it will be sent. */
interface Built {
  readonly idOf: (table: string, item: AttributeMap) => string;
  readonly positions: ReadonlyMap<string, number>;
  readonly chunks: readonly RequestItems[];
}

/** The run-time half of {@link BatchWrite}. */
class BatchWriteCommand extends SentOnce {
  readonly [Symbol.toStringTag] = 'BatchWriteCommand';
  protected get what_(): string {
    return 'batchWrite';
  }

  constructor(
    private readonly table_: TableModel,
    private readonly writes_: readonly unknown[],
    private readonly options_: BatchWriteOptions,
    from?: BatchWriteCommand,
  ) {
    super();
    this.made_(undefined, from);
  }

  protected with_(change: BatchWriteOptions): this {
    this.refuseUsed_();
    return new BatchWriteCommand(this.table_, this.writes_, { ...this.options_, ...change }, this) as this;
  }

  returnCapacity(): BatchWriteCommand {
    return this.with_({ capacity: true });
  }

  private use_(): Built {
    this.refuseUsed_();
    this.end_();
    const parts = this.writes_.map(partsOf);
    const names = new Map(parts.map(({ request_: request, key_: key }) => [request.TableName, keyNames(key)]));
    const idOf = (table: string, item: AttributeMap): string => keyId(table, names.get(table) ?? [], item);
    return { idOf, positions: positionsOf(parts, idOf), chunks: chunksOf(parts) };
  }

  private input_(items: RequestItems): BatchWriteItemCommandInput {
    return { RequestItems: items, ...(this.options_.capacity === true && { ReturnConsumedCapacity: 'TOTAL' }) };
  }

  toRequest(): BatchWriteItemCommandInput {
    const [first] = this.use_().chunks;
    return first === undefined ? invalid('batchWrite', 'has no writes, so there is no request') : this.input_(first);
  }

  override send(options?: SendOptions): Promise<unknown> {
    return this.run_(options, false);
  }

  trySend(options?: SendOptions): Promise<unknown> {
    return this.run_(options, true);
  }

  private async run_(options: SendOptions | undefined, answersRest: boolean): Promise<unknown> {
    const { positions, chunks, idOf } = this.use_();
    const { requests, left, consumed, cause } = await runBatch(chunks, {
      signal: options?.signal,
      count: writeCount,
      send: (items) => this.sendChunk_(items, options),
    });
    const unprocessed = left
      .flatMap((items) => Object.entries(items))
      .flatMap(([table, writes]) => writes.map((write) => positions.get(idOf(table, itemOf(write))) as number))
      .sort((a, b) => a - b);
    const result = {
      written: positions.size - unprocessed.length,
      requests,
      ...(this.options_.capacity === true && { consumedCapacity: consumed }),
    };
    if (unprocessed.length === 0) return { complete: true, ...result };
    const part = { complete: false as const, unprocessed, ...result };
    if (answersRest) return part;
    throw new UnprocessedError('writes', positions.size, part, cause);
  }

  private sendChunk_(items: RequestItems, options: SendOptions | undefined): Promise<BatchAnswer<RequestItems>> {
    return sendCommand({
      table_: this.table_,
      command_: new BatchWriteItemCommand(this.input_(items)),
      attempts_: this.options_.attempts_,
      trace_: { operation: 'BatchWriteItem', actions: writeCount(items) },
      options_: options,
      read_: ({ UnprocessedItems: rest = {}, ConsumedCapacity: consumed }: BatchWriteItemCommandOutput) => ({
        left: writeCount(rest) === 0 ? undefined : rest,
        consumed,
      }),
    });
  }
}

const partsOf = (write: unknown, position: number): StepParts => {
  const path = `batchWrite[${position}]`;
  if (!isStep(write)) return invalid(path, 'expected a put or delete of the library');
  const parts = write[stepSymbol]();
  return parts.notInBatch_ === undefined ? parts : invalid(path, parts.notInBatch_);
};

/** Positions by item. Of two writes of one item, DynamoDB rejects a whole request; over two requests, either may win. */
const positionsOf = (parts: readonly StepParts[], idOf: Built['idOf']): Map<string, number> => {
  const positions = new Map<string, number>();
  parts.forEach(({ request_: request, key_: key }, position) => {
    const id = idOf(request.TableName, key);
    const other = positions.get(id);
    if (other !== undefined) {
      invalid(`batchWrite[${position}]`, `writes the same item as batchWrite[${other}]: a batch takes each item once`);
    }
    positions.set(id, position);
  });
  return positions;
};

/** An item, or the key of one. */
const itemOf = ({ PutRequest, DeleteRequest }: WriteRequest): AttributeMap =>
  PutRequest?.Item ?? DeleteRequest?.Key ?? {};

const writeCount = (items: RequestItems): number => Object.values(items).reduce((sum, { length }) => sum + length, 0);

/**
 * Writes items of any entities and tables together, without conditions. Each write is a put or delete of the library,
 * used up by it; of an entity with `version()`, after `ignoreVersion()`.
 *
 * @param table the table whose client sends it; writes may be of other tables
 * @throws InvalidInputError for a condition or an update, the same item twice, or what is no write; before anything is
 *   sent
 * @example
 * const { written } = await batchWrite(shop, [
 *   ...[1, 2, 3].map((number) => orders.put({ customer: 'alice', number, total: 10, lines: [] })),
 *   accounts.delete({ id: 'alice' }).ignoreVersion(),
 * ]);
 */
export const batchWrite = (table: Table, writes: readonly Batchable[]): BatchWrite<unknown> => {
  if (!Array.isArray(writes)) invalid('batchWrite', 'expected an array of writes');
  return new BatchWriteCommand(tableModelOf(table), [...writes], {}) as unknown as BatchWrite<unknown>;
};
