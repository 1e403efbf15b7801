import { randomUUID } from 'node:crypto';
import { retryOnConflict, type Table } from '../../commands/index.js';
import { invalid } from '../../commands/errors/errors.js';
import { checkObject, checkOptions, checkTable } from '../arguments.js';
import { checkedClock } from '../clock.js';
import { frozen, type Answer } from './answer.js';
import {
  answeredRecord,
  horizonEnd,
  isHeld,
  isUnchanged,
  leaseFields,
  runningOf,
  unknownOf,
  type Running,
  type Unknown,
} from './lease-record.js';
import { IdempotencyRecord, fitting, idempotencyKey, type CallIdentity } from './record.js';

/** What {@link findUnknown} and {@link resolveUnknown} take beside the call. */
export interface UnknownOptions {
  readonly signal?: AbortSignal | undefined;
  /** @default Date.now */
  readonly now?: (() => number) | undefined;
}

/**
 * What becomes of an effect that may have happened. `retry`: it did not happen, the next call does it. `done`: it
 * happened, with this result, and the next call goes on after it. `answer`: the call is over, and every repeat gets this.
 */
export type Decision = 'retry' | { readonly done: string } | { readonly answer: Answer };

/**
 * `resolved`: the decision is stored. `answered`: the call has its answer. `inProgress`: a lease runs, decide when it has
 * ended. `superseded`: there is nothing to decide, or not any more what was seen.
 */
export type ResolveOutcome = 'resolved' | 'answered' | 'inProgress' | 'superseded';

/**
 * What is known of a call whose effect may have happened: what {@link idempotentLease} answers as `unknown`, for whoever
 * has to decide. Undefined where nothing waits for a decision.
 *
 * Cost: 1 request, 1 read unit per 4 KB of the record.
 *
 * @throws InvalidStoredItemError for a record of a newer format
 * @example
 * const unknown = await findUnknown(shop, { scope: 'tenant-1', route: 'pay', key: 'request-1' });
 * if (unknown) console.log(unknown.point, unknown.providerKey, unknown.since);
 */
export const findUnknown = async (
  table: Table,
  call: CallIdentity,
  options: UnknownOptions = {},
): Promise<Unknown | undefined> => {
  checkTable(table);
  const { signal } = checkOptions(options);
  const now = checkedClock(options.now, 'now');
  const key = idempotencyKey(call);
  const found = await table.of(IdempotencyRecord).get({ key }).consistent().item({ signal });
  const running = found && runningOf(found);
  return running === undefined || isHeld(running, new Date(now())) ? undefined : unknownOf(running);
};

/**
 * Decides what became of an effect that may have happened, so that the call can go on. Ask the provider first, by the
 * `providerKey` that it was given as a reference, and late enough for a first request that is still under way to have
 * ended: a decision to retry is the one way in which an effect may happen twice. The decision is about the state that was
 * seen: where another one was faster, or a retry became unknown in its turn, nothing is written.
 *
 * A slow first call whose effect is decided stores nothing any more. Until then it may still store its result itself.
 *
 * Cost: 2 requests, 1 write unit per KB of the record, 1 read unit per 4 KB. Safe to repeat.
 *
 * @param unknown as it was seen
 * @throws LimitExceededError where the answer doesn't fit the record
 * @throws InvalidStoredItemError for a record of a newer format
 * @example
 * const call = { scope: 'tenant-1', route: 'pay', key: 'request-1' };
 * const unknown = await findUnknown(shop, call);
 * if (unknown) await resolveUnknown(shop, call, unknown, { done: 'charge-17' });
 */
export const resolveUnknown = async (
  table: Table,
  call: CallIdentity,
  unknown: Pick<Unknown, 'token' | 'point'>,
  decision: Decision,
  options: UnknownOptions = {},
): Promise<ResolveOutcome> => {
  checkTable(table);
  const { signal } = checkOptions(options);
  const now = checkedClock(options.now, 'now');
  const { token: seen, point } = checkObject(unknown, 'unknown', 'expected what findUnknown gave');
  const decided = decisionOf(decision);
  const records = table.of(IdempotencyRecord);
  const key = idempotencyKey(call);
  const owner = randomUUID();
  const write = (running: Running) => {
    const at = new Date(now());
    const token = running.token + 1;
    if (typeof decided === 'object' && 'answer' in decided) {
      const { answer } = decided;
      return fitting(() => records.put(answeredRecord({ ...running, token }, owner, answer, horizonEnd(running, at))));
    }
    const { points, decided: before } = running.lease;
    // A retry is the effect's first attempt: from now on counts how long the provider knows its key.
    const change =
      decided === 'retry' ? { decided: { ...before, [point]: at } } : { points: { ...points, [point]: decided.done } };
    const lease = { ...running.lease, ...change, step: 0, until: undefined, pending: undefined };
    return records.update({ key }).set(leaseFields(owner, token, lease, at));
  };
  for (;;) {
    const found = await records.get({ key }).consistent().item({ signal });
    // Its own, after a response that was lost.
    if (found?.owner === owner) return 'resolved';
    if (found === undefined) return 'superseded';
    const running = runningOf(found);
    if (running === undefined) return 'answered';
    if (isHeld(running, new Date(now()))) return 'inProgress';
    if (running.token !== seen || running.lease.pending !== point) return 'superseded';
    const condition = isUnchanged(running.owner, running.token, running.lease.step);
    const { conditionMet } = await retryOnConflict(() => write(running).if(condition).trySend({ signal }), {
      on: 'transactionConflict',
      signal,
    });
    if (conditionMet) return 'resolved';
  }
};

/** A decision, checked before anything is read or written. */
const decisionOf = (decision: Decision): Decision => {
  const expected = "expected 'retry', { done: text } or { answer }";
  if (decision === 'retry') return decision;
  const { done, answer } = checkObject(decision, 'decision', expected) as { done?: unknown; answer?: Answer };
  if ((done === undefined) === (answer === undefined)) invalid('decision', expected);
  if (answer !== undefined) return { answer: frozen(answer) };
  return typeof done === 'string' ? { done } : invalid('decision', expected);
};
