import { RemovalPolicy } from 'aws-cdk-lib';

/** What `-c name=value` can say about the app. */
export interface AppOptions {
  /** Part of the stack's name, so that several stages fit in one account. */
  readonly stage: string;

  /** Whether the data outlives the stack. */
  readonly removalPolicy: RemovalPolicy;
}

const removalPolicies = new Map([
  ['retain', RemovalPolicy.RETAIN],
  ['destroy', RemovalPolicy.DESTROY],
]);

/** Reads the app's options from its context: `stage` (default `dev`) and `removalPolicy` (default `retain`). */
export function appOptions(context: (name: string) => unknown): AppOptions {
  const stage = context('stage') ?? 'dev';
  if (typeof stage !== 'string' || !/^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(stage)) {
    throw new Error('Context "stage" must be letters, digits and hyphens, and start with a letter: -c stage=dev');
  }
  const policy = context('removalPolicy') ?? 'retain';
  const removalPolicy = typeof policy === 'string' ? removalPolicies.get(policy) : undefined;
  if (removalPolicy === undefined) {
    throw new Error('Context "removalPolicy" must be "retain" or "destroy": -c removalPolicy=destroy');
  }
  return { stage, removalPolicy };
}
