import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { mangling } from '../../scripts/mangle.mjs';
import type * as Local from '../../lib/local/index.js';
import type { Mutation } from './mutations.js';
import type { Workload } from './workload.js';

const root = path.resolve(import.meta.dirname, '../..');
// Where the packages that it imports are found, and git is not told of it.
const folder = path.join(root, 'node_modules/.cache/safewrites-simulation');

/** The simulator and the workloads, as one build. */
export interface Built {
  readonly simulate: typeof Local.simulate;
  readonly workloads: readonly Workload[];
}

const entry = `
export { simulate } from './lib/local/index.js';
export { workloads } from './test/simulation/workloads/index.js';
`;

/** The file with the bug in it. */
export const mutated = (
  { file, find, replace, bug }: Mutation,
  source = readFileSync(path.join(root, file), 'utf8'),
) => {
  const parts = source.split(find);
  if (parts.length !== 2) throw new Error(`${file} has the text of "${bug}" ${parts.length - 1} times, and not once.`);
  return parts.join(replace);
};

let count = 0;

/** Builds the kit and loads it; with a bug in it where one is given. The working tree stays as it is. */
export const built = async (mutation?: Mutation): Promise<Built> => {
  const source = mutation && mutated(mutation);
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: root, loader: 'ts' },
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    packages: 'external',
    // As it is shipped.
    ...mangling(),
    sourcemap: 'inline',
    write: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'mutation',
        setup(build) {
          build.onLoad({ filter: /\.ts$/ }, (args) =>
            mutation !== undefined && args.path === path.join(root, mutation.file)
              ? { contents: source as string, loader: 'ts' }
              : undefined,
          );
        },
      },
    ],
  });
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${process.pid}-${++count}.mjs`);
  writeFileSync(file, outputFiles[0]?.text ?? '');
  try {
    return (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Built;
  } finally {
    rmSync(file, { force: true });
  }
};
