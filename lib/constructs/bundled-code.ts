import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as lambda from 'aws-cdk-lib/aws-lambda';

/**
 * The code of one of the kit's own functions. It ships bundled, so that an importer needs neither esbuild nor docker.
 */
export function bundledCode(name: string): lambda.Code {
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
