import { retryOnConflict, type RetryOptions, type Run } from '../../commands/index.js';
import { invalid } from '../../commands/errors/errors.js';
import { checkFunction, checkOptions, isBetween } from '../arguments.js';

/**
 * {@link retryOnConflict} bounded by time instead of a number of runs: for a hot item, whose writers lose an unknown
 * number of times, but whose caller knows how long it can wait. No run starts after the bound; one that is under way is
 * not cut off, which is what `signal` is for.
 *
 * Cost: what its runs cost, each lost one like a successful one; the number of runs has no bound but the time.
 *
 * @param milliseconds from the call on
 * @throws the failure of the last run, and anything that is no conflict at once
 * @example
 * await retryOnConflictWithin(2000, async ({ signal }) => {
 *   const account = await accounts.get({ id: 'alice' }).consistent().item({ signal });
 *   await accounts.put({ ...account!, balance: 0 }).send({ signal });
 * });
 */
export const retryOnConflictWithin = async <R>(
  milliseconds: number,
  fn: (run: Run) => Promise<R>,
  options: Omit<RetryOptions, 'maxAttempts'> = {},
): Promise<R> => {
  if (!isBetween(milliseconds, 0, Infinity)) invalid('milliseconds', 'expected how long to retry');
  checkFunction(fn, 'fn');
  checkOptions(options);
  const end = performance.now() + milliseconds;
  let last: { readonly error: unknown } | undefined;
  const ended = (): boolean => last !== undefined && performance.now() >= end;
  const outcome = await retryOnConflict<{ readonly value: R } | undefined>(
    async (run) => {
      if (ended()) return undefined;
      try {
        return { value: await fn(run) };
      } catch (error) {
        last = { error };
        // Before the wait for a run that would not start; a failure that is no conflict is thrown either way.
        if (ended()) return undefined;
        throw error;
      }
    },
    { ...options, maxAttempts: Number.MAX_SAFE_INTEGER },
  );
  if (outcome !== undefined) return outcome.value;
  throw (last as unknown as { error: unknown }).error;
};
