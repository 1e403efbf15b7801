import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The checkout. */
export const root = dirname(import.meta.dirname);

/** An absolute path in the checkout. */
export const at = (...parts) => join(root, ...parts);

/** The package's manifest. */
export const manifest = () => JSON.parse(readFileSync(at('package.json'), 'utf8'));

/** Ends the process with one sentence. */
export function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

/** Whether this file was started as a program. */
export const isMain = (meta) => process.argv[1] !== undefined && realpathSync(process.argv[1]) === meta.filename;
