import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { Step, StepFailure } from '../../commands/index.js';
import type { OutboxEvent } from '../../recipes/index.js';
import type { AnySaga } from '../saga/saga-entity.js';
import type { Saga } from '../saga/saga.js';
import type { CommandMessage, OfAggregate } from './publications.js';

/**
 * The unit of work of one run of a handler: what is added, published and changed in sagas is committed with the record
 * that the message was handled, in one TransactWriteItems, after the handler has returned. A transaction has room for
 * 100 operations: 1 for the inbox, 1 per aggregate published (and 1 for events without any), 1 per saga, the rest the
 * handler's own; for 4 MB; for 400 KB an item; for each item once. What is over is refused when it is added, or at the
 * commit for sagas, with an error that says what takes the room.
 */
export interface Session {
  /**
   * Adds a write or condition check, which is used up by it: a command of the library, or an item of the SDK's
   * TransactWriteItems, of which it takes a copy. A condition that fails is a lost race: the handler runs again, and reads
   * again.
   *
   * @param name what `failed` and errors call it; unique in the message. It says nothing of an order, which a transaction
   *   does not have: any text will do, such as '0' @default its kind, place and entity
   * @throws InvalidInputError for an item touched twice, no command, a raw item without its keys, and one with anything that
   *   DynamoDB refuses or does not see
   * @throws LimitExceededError over the room of the transaction
   */
  add(operation: Step<unknown> | TransactWriteItem, name?: string): void;
  /**
   * Publishes an event if, and only if, the message commits; at least once, in the order of the calls within an
   * aggregate. Without an aggregate, order is kept within this message only.
   *
   * @throws InvalidInputError for an event that no target takes, and two sequences of one aggregate
   * @throws LimitExceededError for an event or item that is too large
   */
  publish(event: OutboxEvent, of?: OfAggregate): void;
  /**
   * Sends a message that is meant for one receiver. It is an event as any other, of the type `{to}/{type}`: an outbox has no
   * destination, so a rule or filter at the relay's target brings it there by its type, and without one nobody gets it.
   *
   * @throws as publish; InvalidInputError for a receiver of other characters
   */
  send(message: CommandMessage, of?: OfAggregate): void;
  /**
   * Loads a saga, or starts it. Cost: 1 read unit per 4 KB; at the commit 1 operation, none where it was completed.
   * The same saga again is the same object. At the commit it must be at the revision that was loaded, else the handler
   * runs again. What is not awaited, or could not be loaded, is not committed without: the message is refused.
   *
   * @throws the SDK's errors of its read; the next call reads again
   * @throws InvalidInputError for no saga, InvalidStoredItemError for one of a newer format
   * @throws LimitExceededError where the transaction has 100 operations already
   * @param correlation any text of up to about 2,000 bytes
   */
  saga<E extends AnySaga>(entity: E, correlation: string): Promise<Saga<E['~state']>>;
  /** Loads a saga, and starts none: its absence is then held to at the commit, by 1 operation. */
  saga<E extends AnySaga>(
    entity: E,
    correlation: string,
    options: { readonly start: boolean },
  ): Promise<Saga<E['~state']> | undefined>;
  /** The run of the handler, from 1: one that was read before the message belongs to run 1 only. */
  readonly attempt: number;
  /** The operations that stopped the run before this one, by name: what the handler may decide by. */
  readonly failed: Readonly<Record<string, StepFailure>>;
  /** When this run began. */
  readonly now: Date;
  /** For the handler's own requests. */
  readonly signal: AbortSignal | undefined;
}
