import { randomUUID } from 'node:crypto';
import {
  TransactWriteItemsCommand,
  type ConsumedCapacity,
  type TransactWriteItemsCommandInput,
  type TransactWriteItemsCommandOutput,
} from '@aws-sdk/client-dynamodb';
import { itemSize } from '../attributes/item-size.js';
import { isFilledText } from '../attributes/text.js';
import { LimitExceededError, invalid } from '../errors/errors.js';
import {
  OutcomeUnknownError,
  TransactionCanceledException,
  type CancellationCode,
  type StepFailure,
} from '../errors/exceptions.js';
import { backoff } from '../retry/backoff.js';
import { isPassingReason } from '../retry/cancellation-reasons.js';
import type { CommandOptions } from '../send/command.js';
import { isNamed, readSeen } from '../send/failures.js';
import { sendCommand } from '../send/send-command.js';
import type { SendOptions } from '../send/send-options.js';
import { tableModelOf, type Table } from '../table/table.js';
import type { TableModel } from '../table/table-model.js';
import { SentOnce } from '../write/sent-once.js';
import { isStep, stepSymbol, type Step, type StepParts } from '../write/step.js';
import { stepFailures, stepsWhere } from './step-failures.js';
import { stepNames } from './step-names.js';

/** The steps of a transaction: writes and condition checks, by names of the caller's. */
export interface Steps {
  readonly [name: string]: Step<unknown>;
}

/** A transaction that was committed. */
export interface Committed {
  readonly committed: true;
}

/** A transaction of which a condition failed: nothing was written. */
export interface NotCommitted<S extends Steps> {
  readonly committed: false;
  /** The steps whose condition failed; `item` is what it saw, where the step asked with `returnOldOnFailure()`. */
  readonly failed: { readonly [K in keyof S]?: { readonly reason: CancellationCode } & S[K]['~f'] };
  /**
   * The steps of which nothing is known, since another transaction or a throttle was in the way as well; absent where
   * there is none.
   */
  readonly others?: { readonly [K in keyof S]?: { readonly reason: CancellationCode } };
}

/** What a transaction consumed, after `returnCapacity()`; a transacted write unit counts twice. */
export interface HasCapacities {
  readonly consumedCapacity: readonly ConsumedCapacity[];
}

/**
 * TransactWriteItems: all steps, over any tables of the client, or none. At most 100 steps, 4 MB, each item once. Cost:
 * one request, twice the write units of its writes, also where it is cancelled.
 *
 * An attempt that was not answered may arrive after the next one was cancelled by another transaction, or throttled: its
 * token is free again, so it would still take effect. Then the same request is sent again, up to 8 times in all with
 * random waits that double (about 2 s), until its outcome is known; each costs the same. A new transaction instead would
 * write a second time.
 */
export interface TransactWrite<S extends Steps, O> extends Promise<Committed & O> {
  /** Makes DynamoDB treat the same request sent again within ten minutes as done. @default a random UUID */
  token(clientRequestToken: string): TransactWrite<S, O>;
  readonly clientRequestToken: string;
  returnCapacity(): TransactWrite<S, O & HasCapacities>;
  /** Attempts of the SDK, the first included. */
  maxAttempts(attempts: number): TransactWrite<S, O>;
  /**
   * Sends it. Another error of the SDK after several attempts, a throttle too, tells of the last attempt alone.
   * @throws TransactionCanceledException with the steps that stopped it
   * @throws OutcomeUnknownError where an attempt that was not answered may yet take effect
   */
  send(options?: SendOptions): Promise<Committed & O>;
  /**
   * Sends it, and answers failed conditions; conflicts, throttles and anything else throw.
   * @throws OutcomeUnknownError as `send`
   */
  trySend(options?: SendOptions): Promise<(Committed & O) | NotCommitted<S>>;
  /**
   * The transaction as one request that can be sent again as it is, which after an unknown outcome (a time-out, a lost
   * response) is the same request to DynamoDB. For ten minutes; after that, only a condition makes it safe.
   */
  build(): BuiltTransaction<S, O>;
  /** The SDK's input, instead of sending. */
  toRequest(): TransactWriteItemsCommandInput;
  /** The request as it goes over the wire, instead of sending. */
  toRequestJson(): string;
}

/** See {@link TransactWrite.build}. */
export interface BuiltTransaction<S extends Steps, O> {
  readonly clientRequestToken: string;
  send(options?: SendOptions): Promise<Committed & O>;
  trySend(options?: SendOptions): Promise<(Committed & O) | NotCommitted<S>>;
}

/** How often one call sends a request of which an attempt may yet take effect: about 2 s of waiting. */
const maximumSendings = 8;
/** A request token is good for ten minutes; one second less for the way there. */
export const tokenMs = 599_000;

/** A failed condition is the answer, and what will not pass comes again. */
const isPassing = (reasons: readonly string[]): boolean =>
  !reasons.includes('ConditionalCheckFailed') && reasons.some(isPassingReason);

/**
 * Whether this request, or one of the attempts before it, may yet take effect: the SDK tells only how the last one ended.
 * A cancellation, and any answer of status 4xx, says that this attempt did nothing.
 */
const mayTakeEffect = (error: unknown): boolean => {
  const { attempts = 1, httpStatusCode: status = 0 } =
    (error as { $metadata?: { attempts?: number; httpStatusCode?: number } } | null | undefined)?.$metadata ?? {};
  if (attempts > 1 || isNamed(error, 'TransactionInProgressException')) return true;
  return !isNamed(error, 'TransactionCanceledException') && !(status >= 400 && status < 500);
};

const maximumSteps = 100;
const maximumBytes = 4 * 1024 * 1024;

interface TransactOptions extends CommandOptions {
  readonly token_: string;
  readonly capacity_?: boolean;
}

/** A request whose steps are rendered: sendable any number of times. */
class Built {
  /** Whether an attempt was sent that no answer tells of, and that may yet take effect. */
  private open_ = false;
  private sentAt_: number | undefined;

  constructor(
    private readonly table_: TableModel,
    private readonly names_: readonly string[],
    private readonly parts_: readonly StepParts[],
    readonly request: TransactWriteItemsCommandInput,
    private readonly options_: TransactOptions,
  ) {}

  get clientRequestToken(): string {
    return this.options_.token_;
  }

  async send(options?: SendOptions): Promise<unknown> {
    return this.run_(options, false);
  }

  async trySend(options?: SendOptions): Promise<unknown> {
    return this.run_(options, true);
  }

  private async run_(options: SendOptions | undefined, answersFailure: boolean): Promise<unknown> {
    const sentAt = (this.sentAt_ ??= Date.now());
    for (let sending = 1; ; sending++) {
      try {
        return await this.request_(options, answersFailure);
      } catch (error) {
        const failed = error instanceof TransactionCanceledException ? error.failed : undefined;
        const passes =
          failed === undefined
            ? isNamed(error, 'TransactionInProgressException')
            : isPassing(Object.values(failed).map(({ reason }) => reason));
        if (!this.open_ || !passes) throw error;
        if (sending < maximumSendings) await backoff(sending, options?.signal);
        // After the wait: a process that was frozen, in it or before, may come back after the token's time.
        if (sending === maximumSendings || Date.now() - sentAt >= tokenMs) {
          throw failed === undefined ? error : new OutcomeUnknownError(failed, error);
        }
      }
    }
  }

  private request_(options: SendOptions | undefined, answersFailure: boolean): Promise<unknown> {
    const { attempts_: attempts, capacity_: capacity } = this.options_;
    return sendCommand({
      table_: this.table_,
      command_: new TransactWriteItemsCommand(this.request),
      attempts_: attempts,
      trace_: { operation: 'TransactWriteItems', actions: this.names_.length },
      options_: options,
      read_: ({ ConsumedCapacity: consumedCapacity = [] }: TransactWriteItemsCommandOutput): unknown =>
        capacity === true ? { committed: true, consumedCapacity } : { committed: true },
      failed_: (error, trace) => {
        this.open_ ||= mayTakeEffect(error);
        const failed = this.failedSteps_(error);
        if (!failed) throw error;
        const conditions = stepsWhere(failed, (reason) => reason === 'ConditionalCheckFailed');
        if (!answersFailure || !conditions) throw new TransactionCanceledException(failed, error);
        trace.outcome = 'notCommitted';
        const others = stepsWhere(failed, (reason) => reason !== 'ConditionalCheckFailed');
        return { committed: false, failed: conditions, ...(others && { others }) };
      },
    });
  }

  private failedSteps_(error: unknown): Record<string, StepFailure> | undefined {
    return stepFailures(error, this.names_, (i, stored) => {
      const asked = this.parts_[i]?.request_['ReturnValuesOnConditionCheckFailure'] !== undefined;
      return asked ? { item: stored && readSeen(() => this.parts_[i]?.decode_(stored), error) } : {};
    });
  }
}

class TransactWriteCommand extends SentOnce {
  readonly [Symbol.toStringTag] = 'TransactWriteCommand';
  protected get what_(): string {
    return 'transaction';
  }

  constructor(
    private readonly table_: TableModel,
    private readonly steps_: Readonly<Record<string, unknown>>,
    private readonly options_: TransactOptions,
    from?: TransactWriteCommand,
  ) {
    super();
    this.made_(undefined, from);
  }

  get clientRequestToken(): string {
    return this.options_.token_;
  }

  protected with_(change: Partial<TransactOptions>): this {
    this.refuseUsed_();
    return new TransactWriteCommand(this.table_, this.steps_, { ...this.options_, ...change }, this) as this;
  }

  token(token: string): TransactWriteCommand {
    if (!isFilledText(token) || token.length > 36) invalid('token', 'expected 1 to 36 characters');
    return this.with_({ token_: token });
  }
  returnCapacity(): TransactWriteCommand {
    return this.with_({ capacity_: true });
  }

  build(): Built {
    this.refuseUsed_();
    const names = stepNames(this.steps_);
    if (names.length === 0) invalid('transactWrite', 'expected at least one step');
    if (names.length > maximumSteps) {
      throw new LimitExceededError('transactWrite', `has ${names.length} steps, more than DynamoDB's ${maximumSteps}`);
    }
    for (const name of names)
      if (!isStep(this.steps_[name])) invalid(name, 'expected a write command or a conditionCheck()');
    this.end_();
    const parts = names.map((name) => (this.steps_[name] as { [stepSymbol](): StepParts })[stepSymbol]());
    checkBudget(names, parts);
    const request: TransactWriteItemsCommandInput = {
      ClientRequestToken: this.options_.token_,
      TransactItems: parts.map(({ kind_: kind, request_: request }) => ({ [kind]: request })),
    };
    if (this.options_.capacity_ === true) request.ReturnConsumedCapacity = 'TOTAL';
    return new Built(this.table_, names, parts, request, this.options_);
  }

  toRequest(): TransactWriteItemsCommandInput {
    return this.build().request;
  }
  override async send(options?: SendOptions): Promise<unknown> {
    return this.build().send(options);
  }
  async trySend(options?: SendOptions): Promise<unknown> {
    return this.build().trySend(options);
  }
}

/** Limits that DynamoDB would answer without saying which step is at fault. */
const checkBudget = (names: readonly string[], parts: readonly StepParts[]): void => {
  const seen = new Map<string, string>();
  let bytes = 0;
  parts.forEach(({ request_: request, key_: key, written_: written }, i) => {
    const name = names[i] as string;
    const id = JSON.stringify([request.TableName, key]);
    const other = seen.get(id);
    if (other !== undefined) invalid(name, `touches the same item as ${other}: a transaction takes each item once`);
    seen.set(id, name);
    const size = itemSize(written);
    if (bytes + size > maximumBytes) {
      throw new LimitExceededError(
        name,
        `takes the transaction over DynamoDB's 4 MB: it has ${size} bytes, the steps before it ${bytes}`,
      );
    }
    bytes += size;
  });
};

/**
 * A transaction of named steps. Each step is a command of the library, used up by it.
 *
 * @param table the table whose client sends it; steps may be of other tables
 * @throws InvalidInputError for no steps, the same item twice, or what is no step; LimitExceededError over 100 steps or
 *   4 MB; both before anything is sent
 * @example
 * const outcome = await transactWrite(shop, {
 *   email: mails.unique({ address, owner }),
 *   user: registrants.put(user).ifNotExists(),
 * }).trySend();
 * if (!outcome.committed && outcome.failed.email) return 'EmailTaken';
 */
export const transactWrite = <S extends Steps>(table: Table, steps: S): TransactWrite<S, unknown> => {
  if (typeof steps !== 'object' || steps === null) invalid('transactWrite', 'expected steps by name');
  const command = new TransactWriteCommand(tableModelOf(table), { ...steps }, { token_: randomUUID() });
  return command as unknown as TransactWrite<S, unknown>;
};
