import type { BuildOptions } from 'esbuild';

/** How the kit's functions are bundled; a build's own, since esbuild writes to the cache of names. */
export function bundling(): BuildOptions & { write: false };
