import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as lambda from 'aws-cdk-lib/aws-lambda';

/** One of the functions that the package ships, and what its code relies on. */
export interface BundledFunction {
  /** Its folder in `dist/lambdas`. */
  readonly name: 'charge' | 'ingest' | 'relay';

  /** What the partition keys begin with that it reads and writes; `*` stands for what follows. */
  readonly leadingKeys: readonly string[];
}

/** Each of them takes the names that the command library uses by default. */
export const bundledNaming = { partitionKey: 'pk', sortKey: 'sk', timeToLive: 'ttl', type: '_type' };

/** The partition keys of what the kit itself stores. */
export const kitKeys = {
  idempotency: 'IDEMPOTENCY#*',
  inbox: 'INBOX#*',
  outbox: 'OUTBOX#*',
  parked: 'OUTBOX_PARKED',
};

/** The functions that the package ships. */
export const bundledFunctions = {
  charge: { name: 'charge', leadingKeys: ['CHARGE#*', 'CUSTOMER#*', kitKeys.idempotency, kitKeys.outbox] },
  ingest: { name: 'ingest', leadingKeys: ['MATCH#*'] },
  relay: { name: 'relay', leadingKeys: [kitKeys.outbox, kitKeys.parked] },
} satisfies Record<string, BundledFunction>;

/**
 * The code of one of the kit's own functions. It ships bundled, so that an importer needs neither esbuild nor docker.
 */
export function bundledCode(name: BundledFunction['name']): lambda.Code {
  return lambda.Code.fromAsset(bundleDirectory(name));
}

function bundleDirectory(name: string): string {
  // Three folders up from the built package, two from its sources.
  for (let folder = dirname(import.meta.dirname), up = 0; up < 3; folder = dirname(folder), up += 1) {
    const candidate = join(folder, 'dist', 'lambdas', name);
    if (existsSync(join(candidate, 'index.mjs'))) return candidate;
  }
  throw new Error(
    `The bundled code of the function "${name}" is missing: run \`npm run build\` in a checkout of safewrites, or install the package again.`,
  );
}
