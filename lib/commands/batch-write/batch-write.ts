import { BatchWriteItemCommand, type BatchWriteItemCommandInput, type WriteRequest } from '@aws-sdk/client-dynamodb';
import type { AttributeMap } from '../attributes/attribute-value.js';
import { keyId, keyNames } from '../batch/key-id.js';
import { runBatch, type BatchAnswer } from '../batch/run-batch.js';
import { UnprocessedError, type Incomplete } from '../batch/unprocessed-error.js';
import { CommandUsedError, invalid } from '../errors/errors.js';
import { checkAttempts, limitAttempts } from '../retry/max-attempts.js';
import { httpOptions, type SendOptions } from '../send/send-options.js';
import { tableModelOf, type Table } from '../table/table.js';
import type { TableModel } from '../table/table-model.js';
import { lifeChannel, traced } from '../tracing/channel.js';
import type { HasCapacities } from '../transact-write/transact-write.js';
import { requestJson } from '../write/request-json.js';
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

interface BatchWriteOptions {
  readonly capacity?: boolean;
  readonly attempts?: number;
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
  private used_ = false;

  constructor(
    private readonly table_: TableModel,
    private readonly writes_: readonly unknown[],
    private readonly options_: BatchWriteOptions,
    from?: BatchWriteCommand,
  ) {
    super();
    if (lifeChannel.hasSubscribers) lifeChannel.publish({ command: this, event: 'created', from, what: 'batchWrite' });
  }

  private with_(change: BatchWriteOptions): BatchWriteCommand {
    if (this.used_) throw new CommandUsedError('batchWrite');
    return new BatchWriteCommand(this.table_, this.writes_, { ...this.options_, ...change }, this);
  }

  returnCapacity(): BatchWriteCommand {
    return this.with_({ capacity: true });
  }
  maxAttempts(attempts: number): BatchWriteCommand {
    return this.with_({ attempts: checkAttempts(attempts) });
  }

  private use_(): Built {
    if (this.used_) throw new CommandUsedError('batchWrite');
    this.used_ = true;
    if (lifeChannel.hasSubscribers) lifeChannel.publish({ command: this, event: 'used' });
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
  toRequestJson(): string {
    return requestJson(this.toRequest());
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

  private async sendChunk_(items: RequestItems, options: SendOptions | undefined): Promise<BatchAnswer<RequestItems>> {
    const { table_: table } = this;
    const { attempts } = this.options_;
    const command = new BatchWriteItemCommand(this.input_(items));
    if (attempts !== undefined) await limitAttempts(table.client_, command, attempts);
    const trace = { operation: 'BatchWriteItem', table: table.name_, actions: writeCount(items) };
    return traced(trace, async (context) => {
      const output = await table.client_.send(command, httpOptions(options));
      context.outcome = 'ok';
      const rest = output.UnprocessedItems ?? {};
      return { left: writeCount(rest) === 0 ? undefined : rest, consumed: output.ConsumedCapacity };
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
