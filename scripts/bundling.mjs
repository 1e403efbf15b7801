import { mangling } from './mangle.mjs';
import { root } from './project.mjs';

/** How the kit's functions are bundled; a build's own, since esbuild writes to the cache of names. */
export const bundling = () => ({
  ...mangling(),
  absWorkingDir: root,
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  legalComments: 'none',
  write: false,
  logLevel: 'silent',
});
