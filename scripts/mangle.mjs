// Members whose names end in an underscore are the library's own: what is shipped calls them by one or two letters, and
// so do the bundles that hold it. The names are kept in a file, since an entity of one copy of the package may meet the
// table of another: a name that was given once stays.
import { readFileSync } from 'node:fs';
import { at } from './project.mjs';
import { writeIfChanged } from './write-if-changed.mjs';

const file = 'scripts/mangled-names.json';

/** The short names given so far. */
export const mangledNames = () => JSON.parse(readFileSync(at(file), 'utf8'));

/** The options of esbuild that shorten them; a build's own, since esbuild writes to the cache. */
export const mangling = () => ({ mangleProps: /[a-z]_$/, mangleCache: mangledNames() });

/** Keeps the names that a build gave to new members. */
export function keepNames(names) {
  const sorted = Object.fromEntries(Object.entries(names).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeIfChanged(at(file), `${JSON.stringify(sorted, undefined, 2)}\n`);
}

/** Refuses names that the file does not have: another build could give them to other members. */
export function refuseNewNames(names) {
  const known = mangledNames();
  const [unknown] = Object.keys(names).filter((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) throw new Error(`${file} has no ${unknown}: run \`npm run build\`, and commit it.`);
}
