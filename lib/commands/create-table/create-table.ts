import {
  CreateTableCommand as SdkCreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  UpdateTimeToLiveCommand,
  type CreateTableCommandInput,
  type DynamoDBClient,
  type StreamViewType,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { setTimeout as wait } from 'node:timers/promises';
import { SafeWritesError, invalid } from '../errors/errors.js';
import type { CommandOptions } from '../send/command.js';
import { isNamed } from '../send/failures.js';
import { httpOptions, type SendOptions } from '../send/send-options.js';
import { tableModelOf, type Table } from '../table/table.js';
import type { TableModel } from '../table/table-model.js';
import { traced } from '../tracing/channel.js';
import { SentOnce } from '../write/sent-once.js';
import { driftOf } from './drift.js';
import { tableInput, type CreateTableOptions, type IndexProjection } from './table-input.js';

/** What a {@link createTable} came to. */
export interface CreateTableResult {
  readonly table: TableDescription;
  /** False where it was there already, after `ifNotExists()`. */
  readonly created: boolean;
  /** Time to live is on for the table's attribute, or is being turned on. */
  readonly timeToLiveEnabled: boolean;
  /** What an existing table differs in: keys, indexes, stream and time-to-live attribute, a sentence each. */
  readonly drift: readonly string[];
}

/**
 * CreateTable, billed on demand, with the keys and indexes of `table()`. For tests and tools: in an account, tables are
 * the CDK's. An ordinary value: rendering or sending it leaves it usable. Needs the permissions CreateTable,
 * DescribeTable, DescribeTimeToLive and UpdateTimeToLive for what it does.
 */
export interface CreateTable extends Promise<CreateTableResult> {
  /** Takes a table that exists, changes nothing of its keys, indexes and stream, and says what differs. */
  ifNotExists(): CreateTable;
  /** Waits until table and indexes can be used: at most five minutes. */
  waitUntilActive(): CreateTable;
  /** Turns time to live on for the table's attribute, which waits until the table is active. */
  timeToLive(): CreateTable;
  /** Turns the stream on. @default NEW_AND_OLD_IMAGES */
  stream(view?: StreamViewType): CreateTable;
  /** What an index holds beside the keys: stored names of attributes. @default 'all' */
  project(index: string, projection: IndexProjection): CreateTable;
  /**
   * Creates it.
   * @throws ResourceInUseException of the SDK where it exists, without `ifNotExists()`
   */
  send(options?: SendOptions): Promise<CreateTableResult>;
  /** The SDK's input of the CreateTable, without the calls around it. */
  toRequest(): CreateTableCommandInput;
  /** The CreateTable as it goes over the wire. */
  toRequestJson(): string;
}

const shortestWait = 100;
const longestWait = 5_000;
const longestInAll = 5 * 60_000;

class CreateTableCommand extends SentOnce {
  readonly [Symbol.toStringTag] = 'CreateTableCommand';
  protected get what_(): string {
    return 'createTable';
  }

  constructor(
    private readonly target_: TableModel,
    private readonly options_: CreateTableOptions,
    from?: CreateTableCommand,
  ) {
    super();
    this.made_(undefined, from);
  }

  protected with_(change: Partial<CreateTableOptions> & CommandOptions): this {
    return new CreateTableCommand(this.target_, { ...this.options_, ...change }, this) as this;
  }

  override maxAttempts(): never {
    return invalid('createTable', 'is several requests, and takes no maxAttempts()');
  }
  ifNotExists(): CreateTableCommand {
    return this.with_({ ifNotExists: true });
  }
  waitUntilActive(): CreateTableCommand {
    return this.with_({ waitUntilActive: true });
  }
  timeToLive(): CreateTableCommand {
    return this.with_({ timeToLive: true });
  }
  stream(view: StreamViewType = 'NEW_AND_OLD_IMAGES'): CreateTableCommand {
    return this.with_({ stream: view });
  }
  project(index: string, projection: IndexProjection): CreateTableCommand {
    if (!Object.hasOwn(this.target_.naming_.indexes, index))
      invalid('project', 'expected the name of an index of table()');
    return this.with_({ projections: { ...this.options_.projections, [index]: projection } });
  }

  toRequest(): CreateTableCommandInput {
    this.end_();
    return tableInput(this.target_, this.options_);
  }

  override async send(options?: SendOptions): Promise<CreateTableResult> {
    const input = this.toRequest();
    const { waitUntilActive, timeToLive } = this.options_;
    const { table: first, created } = await this.create_(input, options);
    const drift = created ? [] : driftOf(input, first);
    const waits = waitUntilActive === true || timeToLive === true;
    const table = waits ? await this.untilActive_(first, options) : first;
    let timeToLiveEnabled = false;
    if (timeToLive === true || !created) {
      const other = await this.timeToLiveAttribute_(options);
      timeToLiveEnabled = other === this.target_.naming_.timeToLive;
      if (other !== undefined && !timeToLiveEnabled) {
        drift.push(`Time to live is on for ${other}, not ${this.target_.naming_.timeToLive}.`);
      } else if (timeToLive === true && !timeToLiveEnabled) {
        await this.enableTimeToLive_(options);
        timeToLiveEnabled = true;
      }
    }
    return { table, created, timeToLiveEnabled, drift };
  }

  private async create_(
    input: CreateTableCommandInput,
    options: SendOptions | undefined,
  ): Promise<{ table: TableDescription; created: boolean }> {
    try {
      const output = await this.call_('CreateTable', options, (client, http) =>
        client.send(new SdkCreateTableCommand(input), http),
      );
      return { table: output.TableDescription ?? {}, created: true };
    } catch (error) {
      if (this.options_.ifNotExists !== true || !isNamed(error, 'ResourceInUseException')) throw error;
      return { table: await this.describe_(options), created: false };
    }
  }

  private async describe_(options: SendOptions | undefined): Promise<TableDescription> {
    const output = await this.call_('DescribeTable', options, (client, http) =>
      client.send(new DescribeTableCommand({ TableName: this.target_.name_ }), http),
    );
    return output.Table ?? {};
  }

  private async untilActive_(table: TableDescription, options: SendOptions | undefined): Promise<TableDescription> {
    const end = Date.now() + longestInAll;
    for (let pause = shortestWait; ; pause = Math.min(pause * 2, longestWait)) {
      if (isActive(table)) return table;
      if (table.TableStatus === 'DELETING')
        throw new SafeWritesError('The table is being deleted: create it afterwards.');
      if (Date.now() > end) throw new SafeWritesError('The table did not become active within five minutes.');
      await wait(pause, undefined, options?.signal && { signal: options.signal });
      table = await this.describe_(options).catch((error: unknown) => {
        // A table that was created a moment ago may not be visible everywhere.
        if (isNamed(error, 'ResourceNotFoundException')) return table;
        throw error;
      });
    }
  }

  /** The attribute that time to live is on for, if it is. */
  private async timeToLiveAttribute_(options: SendOptions | undefined): Promise<string | undefined> {
    const output = await this.call_('DescribeTimeToLive', options, (client, http) =>
      client.send(new DescribeTimeToLiveCommand({ TableName: this.target_.name_ }), http),
    );
    const { TimeToLiveStatus: status, AttributeName: attribute } = output.TimeToLiveDescription ?? {};
    return status === 'ENABLED' || status === 'ENABLING' ? attribute : undefined;
  }

  private async enableTimeToLive_(options: SendOptions | undefined): Promise<void> {
    const { name_: name, naming_: naming } = this.target_;
    const TimeToLiveSpecification = { AttributeName: naming.timeToLive, Enabled: true };
    try {
      await this.call_('UpdateTimeToLive', options, (client, http) =>
        client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }), http),
      );
    } catch (error) {
      // Somebody else may have turned it on in between, which DynamoDB refuses to do twice.
      if ((await this.timeToLiveAttribute_(options)) !== naming.timeToLive) throw error;
    }
  }

  private call_<R>(
    operation: string,
    options: SendOptions | undefined,
    send: (client: DynamoDBClient, http: ReturnType<typeof httpOptions>) => Promise<R>,
  ): Promise<R> {
    const { name_: name, client_: client } = this.target_;
    return traced({ operation, table: name }, async (context) => {
      const output = await send(client, httpOptions(options));
      context.outcome = 'ok';
      return output;
    });
  }
}

const isActive = ({ TableStatus, GlobalSecondaryIndexes = [] }: TableDescription): boolean =>
  TableStatus === 'ACTIVE' && GlobalSecondaryIndexes.every(({ IndexStatus }) => IndexStatus === 'ACTIVE');

/**
 * Creates the table that `table()` describes: keys and indexes of text, on demand.
 *
 * @example
 * const shop = table({ name: 'shop', client, indexes: { byStatus: {} } });
 * const { created, drift } = await createTable(shop).ifNotExists().waitUntilActive().timeToLive().send();
 */
export const createTable = (table: Table): CreateTable =>
  new CreateTableCommand(tableModelOf(table), { projections: {} }) as unknown as CreateTable;
