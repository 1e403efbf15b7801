/** Bundles every function into dist/lambdas. */
export function buildLambdas(): Promise<void>;
