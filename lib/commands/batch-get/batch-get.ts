import {
  BatchGetItemCommand,
  type BatchGetItemCommandInput,
  type BatchGetItemCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { keyId, keyNames } from '../batch/key-id.js';
import { runBatch, type BatchAnswer } from '../batch/run-batch.js';
import { UnprocessedError } from '../batch/unprocessed-error.js';
import { invalid } from '../errors/errors.js';
import { isReadStep, readStepSymbol } from '../read/read-step.js';
import { Command, type CommandOptions } from '../send/command.js';
import { sendCommand } from '../send/send-command.js';
import type { SendOptions } from '../send/send-options.js';
import { tableModelOf, type Table } from '../table/table.js';
import type { TableModel } from '../table/table-model.js';
import type { HasCapacities } from '../transact-write/transact-write.js';
import { planReads, type Entry, type Plan, type RequestItems } from './plan.js';
import type { BatchGot, BatchGotPart, BatchReads } from './results.js';

/**
 * BatchGetItem: any number of items, over any tables of the client, in requests of 100, 8 of them at once. A key that
 * several gets ask for is read once; gets of one table that differ in consistency or projection take requests of their
 * own. Keys that DynamoDB leaves unprocessed (over 16 MB in a request, over 1 MB of a partition, throttled) are asked for
 * again with waits. Cost: the read units of each item, half a one per 4 KB, one where consistent. The items are not of one
 * moment: take `transactGet` for that.
 *
 * The rules: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html.
 *
 * It has no `then`: a read is sent by its terminal only.
 */
export interface BatchGet<S extends BatchReads, O> {
  /** The sum by table. */
  returnCapacity(): BatchGet<S, O & HasCapacities>;
  /** Attempts of the SDK for each request, the first included. */
  maxAttempts(attempts: number): BatchGet<S, O>;
  /**
   * Reads them all.
   * @throws UnprocessedError where keys stay unprocessed; its `result` holds what was read
   */
  send(options?: SendOptions): Promise<BatchGot<S> & O>;
  /** Reads them, and answers keys that stay unprocessed instead of throwing. */
  trySend(options?: SendOptions): Promise<(BatchGot<S> | BatchGotPart<S>) & O>;
  /** The SDK's input of the first request, instead of sending. */
  toRequest(): BatchGetItemCommandInput;
  /** The first request as it goes over the wire, instead of sending. */
  toRequestJson(): string;
}

interface BatchGetOptions extends CommandOptions {
  readonly capacity?: boolean;
}

/** A whole batch as it will be sent. */
interface Built {
  /** The gets of each name, one or an array of them. */
  readonly slots: readonly (readonly [name: string, slot: Entry | readonly Entry[]])[];
  readonly entries: readonly Entry[];
  readonly plans: readonly Plan[];
}

/** The run-time half of {@link BatchGet}. */
class BatchGetCommand extends Command {
  protected get what_(): string {
    return 'batchGet';
  }

  constructor(
    private readonly table_: TableModel,
    private readonly reads_: Readonly<Record<string, unknown>>,
    private readonly options_: BatchGetOptions,
    from?: BatchGetCommand,
  ) {
    super();
    this.made_(undefined, from);
  }

  protected with_(change: BatchGetOptions): this {
    this.refuseUsed_();
    return new BatchGetCommand(this.table_, this.reads_, { ...this.options_, ...change }, this) as this;
  }

  returnCapacity(): BatchGetCommand {
    return this.with_({ capacity: true });
  }

  private use_(): Built {
    this.refuseUsed_();
    this.end_();
    const slots = Object.entries(this.reads_).map(
      ([name, read]) =>
        [
          name,
          Array.isArray(read) ? read.map((one, index) => entryOf(name, index, one)) : entryOf(name, undefined, read),
        ] as const,
    );
    const entries = slots.flatMap(([, slot]) => slot);
    return { slots, entries, plans: planReads(entries) };
  }

  private input_(items: RequestItems): BatchGetItemCommandInput {
    return { RequestItems: items, ...(this.options_.capacity === true && { ReturnConsumedCapacity: 'TOTAL' }) };
  }

  toRequest(): BatchGetItemCommandInput {
    const [first] = this.use_().plans;
    return first === undefined ? invalid('batchGet', 'has no reads, so there is no request') : this.input_(first.items);
  }

  send(options?: SendOptions): Promise<unknown> {
    return this.run_(options, false);
  }

  trySend(options?: SendOptions): Promise<unknown> {
    return this.run_(options, true);
  }

  private async run_(options: SendOptions | undefined, answersRest: boolean): Promise<unknown> {
    const { slots, entries, plans } = this.use_();
    const { requests, left, consumed, cause } = await runBatch(plans, {
      signal: options?.signal,
      count: ({ items }) => keyCount(items),
      send: (plan) => this.sendPlan_(plan, options),
    });
    const open = new Set(left.flatMap((plan) => waitingOf(plan)));
    const result = {
      items: Object.fromEntries(
        slots.map(([name, slot]) => [name, 'parts' in slot ? slot.item : slot.map(({ item }) => item)]),
      ),
      requests,
      ...(this.options_.capacity === true && { consumedCapacity: consumed }),
    };
    if (open.size === 0) return { complete: true, ...result };
    const unprocessed = entries.filter((entry) => open.has(entry)).map(({ name, index }) => ({ name, index }));
    const part = { complete: false as const, unprocessed, ...result };
    if (answersRest) return part;
    throw new UnprocessedError('reads', entries.length, part, cause);
  }

  private async sendPlan_({ items, waiting }: Plan, options: SendOptions | undefined): Promise<BatchAnswer<Plan>> {
    const output = await sendCommand({
      table_: this.table_,
      command_: new BatchGetItemCommand(this.input_(items)),
      attempts_: this.options_.attempts_,
      trace_: { operation: 'BatchGetItem', actions: keyCount(items) },
      options_: options,
      read_: (answer: BatchGetItemCommandOutput) => answer,
    });
    for (const [name, found] of Object.entries(output.Responses ?? {})) {
      const names = keyNames(items[name]?.Keys?.[0] ?? {});
      for (const item of found) {
        for (const entry of waiting.get(keyId(name, names, item)) ?? []) entry.item = entry.parts.decode_(item);
      }
    }
    const rest = output.UnprocessedKeys ?? {};
    return { left: keyCount(rest) === 0 ? undefined : { items: rest, waiting }, consumed: output.ConsumedCapacity };
  }
}

const entryOf = (name: string, index: number | undefined, read: unknown): Entry => {
  const path = index === undefined ? name : `${name}[${index}]`;
  const parts = isReadStep(read) ? read[readStepSymbol]() : invalid(path, 'expected a get, such as orders.get(key)');
  return { name, index, parts, item: undefined };
};

const keyCount = (items: RequestItems): number =>
  Object.values(items).reduce((sum, { Keys = [] }) => sum + Keys.length, 0);

/** The gets that wait for the keys of a request. */
const waitingOf = ({ items, waiting }: Plan): Entry[] =>
  Object.entries(items).flatMap(([table, { Keys = [] }]) =>
    Keys.flatMap((key) => waiting.get(keyId(table, keyNames(key), key)) ?? []),
  );

/**
 * Reads items of any entities and tables together. Each read is a get of the library, used up by it.
 *
 * @param table the table whose client sends it; the gets may be of other tables
 * @throws InvalidInputError for what is no get, before anything is sent
 * @example
 * const numbers = [1, 2, 3];
 * const { items } = await batchGet(shop, {
 *   alice: customers.get({ customer: 'alice' }),
 *   orders: numbers.map((number) => orders.get({ customer: 'alice', number })),
 * }).send();
 * const missing = numbers.filter((_, i) => items.orders[i] === undefined);
 */
export const batchGet = <const S extends BatchReads>(table: Table, reads: S): BatchGet<S, unknown> => {
  if (typeof reads !== 'object' || reads === null) invalid('batchGet', 'expected reads by name');
  return new BatchGetCommand(tableModelOf(table), { ...reads }, {}) as unknown as BatchGet<S, unknown>;
};
