import {
  TransactGetItemsCommand,
  type TransactGetItem,
  type TransactGetItemsCommandInput,
  type TransactGetItemsCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { LimitExceededError, invalid } from '../errors/errors.js';
import { TransactionCanceledException } from '../errors/exceptions.js';
import type { Found, NotFound } from '../read/read-results.js';
import { isReadStep, readStepSymbol, type ReadParts, type ReadStep } from '../read/read-step.js';
import { Command, type CommandOptions } from '../send/command.js';
import { sendCommand } from '../send/send-command.js';
import type { SendOptions } from '../send/send-options.js';
import { tableModelOf, type Table } from '../table/table.js';
import type { TableModel } from '../table/table-model.js';
import { stepFailures } from '../transact-write/step-failures.js';
import { stepNames } from '../transact-write/step-names.js';
import type { HasCapacities } from '../transact-write/transact-write.js';

/** The reads of a transaction: gets, by names of the caller's. */
export interface TransactReads {
  readonly [name: string]: ReadStep<unknown>;
}

/** What each read of a transaction found. */
export type TransactGot<S extends TransactReads> = {
  readonly [K in keyof S]: Found<S[K]['~read']> | NotFound;
};

/**
 * TransactGetItems: all items as they are at one moment, over any tables of the client. At most 100 items and 4 MB,
 * each item once. Cost: one request, two read units per 4 KB of each item; a projection doesn't lower it
 * (https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactGetItems.html).
 *
 * It has no `then`: a read is sent by its terminal only.
 */
export interface TransactGet<S extends TransactReads, O> {
  returnCapacity(): TransactGet<S, O & HasCapacities>;
  /** Attempts of the SDK, the first included. */
  maxAttempts(attempts: number): TransactGet<S, O>;
  /**
   * What each read found, by its name.
   * @throws TransactionCanceledException where a write was in the way of one of them (`TransactionConflict`, which
   *   `retryOnConflict` runs again), or a read was throttled
   */
  send(options?: SendOptions): Promise<TransactGot<S> & O>;
  /** The SDK's input, instead of sending. */
  toRequest(): TransactGetItemsCommandInput;
  /** The request as it goes over the wire, instead of sending. */
  toRequestJson(): string;
}

const maximumReads = 100;

interface TransactGetOptions extends CommandOptions {
  readonly capacity?: boolean;
}

class TransactGetCommand extends Command {
  protected get what_(): string {
    return 'transactGet';
  }

  constructor(
    private readonly table_: TableModel,
    private readonly reads_: Readonly<Record<string, unknown>>,
    private readonly options_: TransactGetOptions,
    from?: TransactGetCommand,
  ) {
    super();
    this.made_(undefined, from);
  }

  protected with_(change: TransactGetOptions): this {
    this.refuseUsed_();
    return new TransactGetCommand(this.table_, this.reads_, { ...this.options_, ...change }, this) as this;
  }

  returnCapacity(): TransactGetCommand {
    return this.with_({ capacity: true });
  }

  private use_(): { names: string[]; parts: ReadParts[]; request: TransactGetItemsCommandInput } {
    this.refuseUsed_();
    const names = stepNames(this.reads_);
    if (names.length === 0) invalid('transactGet', 'expected at least one read');
    if (names.length > maximumReads) {
      throw new LimitExceededError('transactGet', `has ${names.length} reads, more than DynamoDB's ${maximumReads}`);
    }
    const reads = names.map((name) => {
      const read = this.reads_[name];
      // The result holds what was consumed under this name.
      if (name === 'consumedCapacity') invalid(name, 'is taken: give the read another name');
      return isReadStep(read) ? read : invalid(name, 'expected a get, such as orders.get(key)');
    });
    this.end_();
    const parts = reads.map((read) => read[readStepSymbol]());
    refuseTwice(names, parts);
    const request: TransactGetItemsCommandInput = { TransactItems: parts.map(toItem) };
    if (this.options_.capacity === true) request.ReturnConsumedCapacity = 'TOTAL';
    return { names, parts, request };
  }

  toRequest(): TransactGetItemsCommandInput {
    return this.use_().request;
  }

  async send(options?: SendOptions): Promise<unknown> {
    const { names, parts, request } = this.use_();
    const { attempts_: attempts, capacity } = this.options_;
    return sendCommand({
      table_: this.table_,
      command_: new TransactGetItemsCommand(request),
      attempts_: attempts,
      trace_: { operation: 'TransactGetItems', actions: names.length },
      options_: options,
      read_: (output: TransactGetItemsCommandOutput): unknown => {
        const result: Record<string, unknown> = {};
        names.forEach((name, i) => {
          const item = output.Responses?.[i]?.Item;
          result[name] = { found: item !== undefined, item: item && parts[i]?.decode_(item) };
        });
        if (capacity === true) result['consumedCapacity'] = output.ConsumedCapacity ?? [];
        return result;
      },
      failed_: (error) => {
        const failed = stepFailures(error, names, () => ({}));
        throw failed ? new TransactionCanceledException(failed, error) : error;
      },
    });
  }
}

/** A transaction reads at one moment whatever its gets say of consistency. */
const toItem = ({ table_: table, key_: key, projection_: projection }: ReadParts): TransactGetItem => ({
  Get: {
    TableName: table,
    Key: key,
    ...(projection && { ProjectionExpression: projection.expression_, ExpressionAttributeNames: projection.names_ }),
  },
});

const refuseTwice = (names: readonly string[], parts: readonly ReadParts[]): void => {
  const seen = new Map<string, string>();
  parts.forEach(({ table_: table, key_: key }, i) => {
    const name = names[i] as string;
    const id = JSON.stringify([table, key]);
    const other = seen.get(id);
    if (other !== undefined) invalid(name, `reads the same item as ${other}: a transaction takes each item once`);
    seen.set(id, name);
  });
};

/**
 * Reads several items at one moment, serializable against every write and transaction. Each read is a get of the
 * library, used up by it; its `consistent()` changes nothing here.
 *
 * @param table the table whose client sends it; the gets may be of other tables
 * @throws InvalidInputError for no reads, the same item twice, or what is no get; LimitExceededError over 100 reads;
 *   both before anything is sent
 * @example
 * const { account, product } = await transactGet(shop, {
 *   account: accounts.get({ id: 'alice' }),
 *   product: products.get({ id: 'KB-01' }).project('price'),
 * }).send();
 * const affordable = account.found && product.found && product.item.price <= account.item.balance;
 */
export const transactGet = <S extends TransactReads>(
  table: Table,
  reads: S & { readonly consumedCapacity?: never },
): TransactGet<S, unknown> => {
  if (typeof reads !== 'object' || reads === null) invalid('transactGet', 'expected reads by name');
  return new TransactGetCommand(tableModelOf(table), { ...reads }, {}) as unknown as TransactGet<S, unknown>;
};
