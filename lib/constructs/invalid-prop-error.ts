import type { Duration, IResource } from 'aws-cdk-lib/core';
import { Stack, Token } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/**
 * A prop that contradicts another, or that AWS would refuse at deploy: thrown at synth, and its message says what to
 * change.
 *
 * @example
 * ```ts
 * import { App, Duration, Stack } from 'aws-cdk-lib';
 * import { IdempotentEndpoint, InvalidPropError, SafeWritesTable } from 'safewrites/cdk';
 *
 * const stack = new Stack(new App(), 'Shop');
 * const table = new SafeWritesTable(stack, 'Table');
 * try {
 *   new IdempotentEndpoint(stack, 'Charge', { table, timeout: Duration.seconds(60) });
 * } catch (error) {
 *   if (error instanceof InvalidPropError) console.log(error.prop); // 'timeout'
 * }
 * ```
 */
export class InvalidPropError extends Error {
  override readonly name = 'InvalidPropError';

  constructor(
    scope: Construct,
    /** The prop to change. */
    readonly prop: string,
    problem: string,
  ) {
    super(`${scope.node.path}: ${prop}: ${problem}`);
  }
}

/** Throws an {@link InvalidPropError}. */
export const refuse = (scope: Construct, prop: string, problem: string): never => {
  throw new InvalidPropError(scope, prop, problem);
};

/** Of two props that say the same thing in two ways, at most one may be given. */
export const refuseBoth = (scope: Construct, props: Readonly<Record<string, unknown>>): void => {
  const given = Object.keys(props).filter((name) => props[name] !== undefined);
  if (given.length > 1) refuse(scope, given[0]!, `is given together with ${given.slice(1).join(' and ')}: leave one`);
};

/** What a function works on must be in its Region, as far as both are known. */
export function refuseOtherRegion(scope: Construct, prop: string, { env: { region } }: IResource): void {
  const own = Stack.of(scope).region;
  if (Token.isUnresolved(region) || Token.isUnresolved(own) || region === own) return;
  refuse(scope, prop, `is in ${region}, but its function is in ${own}: put both into stacks of one Region`);
}

/** The seconds of a duration that other settings are derived from, which must be known at synth. */
export function secondsOf(scope: Construct, prop: string, duration: Duration): number {
  if (duration.isUnresolved())
    return refuse(
      scope,
      prop,
      'is known only at deploy, but others depend on it: give it as a literal, such as Duration.seconds(10)',
    );
  const seconds = duration.toSeconds({ integral: false });
  return Number.isInteger(seconds) ? seconds : refuse(scope, prop, `is ${seconds} s, but must be whole seconds`);
}

/** A whole number within bounds, which must be known at synth. */
export function wholeNumber(scope: Construct, prop: string, value: number, least: number, most: number): number {
  if (Token.isUnresolved(value))
    return refuse(scope, prop, 'is known only at deploy, but others depend on it: give it as a literal');
  if (!Number.isInteger(value) || value < least || value > most) {
    return refuse(scope, prop, `must be a whole number from ${least} to ${most}`);
  }
  return value;
}

/** A text that must be known at synth. */
export function literalText(scope: Construct, prop: string, value: string): string {
  if (Token.isUnresolved(value))
    return refuse(scope, prop, 'is known only at deploy, but others depend on it: give it as a literal');
  return value;
}

/** The name of an attribute, which others are derived from. */
export function literalName(scope: Construct, prop: string, name: string): string {
  return literalText(scope, prop, name) === '' ? refuse(scope, prop, 'is empty: name an attribute') : name;
}

/** A text for messages: `90 s`. */
export const inSeconds = (seconds: number): string => `${seconds} s`;
