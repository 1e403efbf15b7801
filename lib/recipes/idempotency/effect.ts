import { invalid } from '../../commands/errors/errors.js';
import { checkFunction, checkObject } from '../arguments.js';
import type { NotCommitted, StepFailure, Steps } from '../../commands/index.js';

/** What one run of an idempotent call wants: steps to commit with its answer, or a refusal alone. */
export type Effect<A> = Commit<A> | Refuse<A>;

/** See {@link commit}. */
export interface Commit<A> {
  readonly kind: 'commit';
  readonly steps: Steps;
  readonly answer: A;
  readonly onFailed?: ((failed: Readonly<Record<string, StepFailure>>) => A | undefined) | undefined;
}

/** See {@link refuse}. */
export interface Refuse<A> {
  readonly kind: 'refuse';
  readonly answer: A;
}

/**
 * Writes the steps and the answer in one transaction.
 *
 * @param steps at most 99, by names of the caller's
 * @param onFailed what the failed conditions of steps answer; that answer is stored, so that a repeat gets it whatever
 *   has changed since. Undefined is a lost race: the call runs again. Without it, a failed condition throws and nothing
 *   is stored
 * @example
 * const effect = commit(
 *   { user: registrants.put(user).ifNotExists(), account: conditionCheck(accounts, { id: user.id }).ifExists() },
 *   { status: 201, body: JSON.stringify({ id: user.id }) },
 *   (failed) => (failed.account ? { status: 409, body: 'no account' } : undefined),
 * );
 */
export const commit = <S extends Steps, A>(
  steps: S,
  answer: A,
  onFailed?: (failed: NotCommitted<S>['failed']) => A | undefined,
): Commit<A> => {
  checkObject(steps, 'steps', 'expected an object of steps');
  if (onFailed !== undefined) checkFunction(onFailed, 'onFailed');
  return { kind: 'commit', steps, answer, onFailed };
};

/**
 * Stores a refusal that was decided before any write, so that a repeat gets it whatever has changed since. What is wrong
 * with the request itself is thrown instead, and not stored.
 *
 * @example const effect = refuse({ status: 409, body: 'closed' });
 */
export const refuse = <A>(answer: A): Refuse<A> => ({ kind: 'refuse', answer });

/** Refuses what is no effect, so that nothing of it is taken for one. */
export const checkEffect = <A>(made: Effect<A>): Effect<A> => {
  const { kind } = checkObject(made, 'run', 'expected the function to give commit(…) or refuse(…)');
  return kind === 'commit' || kind === 'refuse'
    ? made
    : invalid('run', 'expected the function to give commit(…) or refuse(…)');
};
