import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundled } from '../size/bundle.mjs';
import { root } from './paths.mjs';

/** Bundles a function's factory into the folder, which is inside this package, so that the SDK is found. Gives its path. */
export const bundledFunction = async (folder, part) => {
  mkdirSync(folder, { recursive: true });
  const { contents } = await bundled(join(root, 'lambdas', part, `${part}-handler.ts`), join(folder, 'out.mjs'));
  const path = join(folder, `${part}.mjs`);
  writeFileSync(path, contents);
  return path;
};
