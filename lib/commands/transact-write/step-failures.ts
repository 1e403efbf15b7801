import type { AttributeMap } from '../attributes/attribute-value.js';
import type { CancellationCode, StepFailure } from '../errors/exceptions.js';
import { isNamed } from '../send/failures.js';

/**
 * The steps that stopped a transaction, by name; DynamoDB says them by position. Undefined where the error is no
 * cancellation.
 *
 * @param saw what a step's failure holds beside its reason, from the item that came with it
 */
export const stepFailures = (
  error: unknown,
  names: readonly string[],
  saw: (step: number, stored: AttributeMap | undefined) => { readonly item?: unknown },
): Record<string, StepFailure> | undefined => {
  if (!isNamed(error, 'TransactionCanceledException')) return undefined;
  const reasons = (error as { CancellationReasons?: { Code?: string; Item?: AttributeMap }[] }).CancellationReasons;
  if (!reasons) return undefined;
  // Without a prototype: `failed.constructor` must not look like a failure.
  const failed = Object.create(null) as Record<string, StepFailure>;
  names.forEach((name, i) => {
    const { Code: reason, Item: stored } = reasons[i] ?? {};
    if (reason !== undefined && reason !== 'None') {
      failed[name] = { reason: reason as CancellationCode, ...saw(i, stored) };
    }
  });
  return failed;
};

type Failures = Readonly<Record<string, StepFailure>>;

/** Those of a reason; undefined where there is none. */
export const stepsWhere = (failed: Failures, is: (reason: CancellationCode) => boolean): Failures | undefined => {
  const some = Object.entries(failed).filter(([, { reason }]) => is(reason));
  return some.length === 0 ? undefined : joined(Object.fromEntries(some));
};

/** All that stopped a transaction which `trySend` answered. */
export const allFailures = (outcome: { readonly failed: object; readonly others?: object }): Failures =>
  joined(outcome.others, outcome.failed);

const joined = (...parts: (object | undefined)[]): Failures =>
  Object.assign(Object.create(null) as Record<string, StepFailure>, ...parts) as Failures;
