import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** This package. */
export const bench = dirname(import.meta.dirname);

/** The checkout around it. */
export const root = dirname(bench);

/** The versions that were measured. */
export function versions() {
  const { dependencies } = JSON.parse(readFileSync(join(bench, 'package.json'), 'utf8'));
  return { node: process.version, ...dependencies };
}
