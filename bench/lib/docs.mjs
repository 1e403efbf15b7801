// Tables of docs/ that hold measured figures stand between `<!-- bench:name -->` and `<!-- /bench:name -->`, and are written by
// the bench: a figure that is copied by hand goes stale.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { bench, root } from './paths.mjs';

/** The pages with such tables. */
export const pages = ['docs/performance.md', 'docs/reliability.md'];

const marked = /(<!-- bench:([\w-]+) -->\n)[^]*?(<!-- \/bench:\2 -->)/g;

/** The tables that the last run of each part left, by name. */
export const measuredTables = () => {
  const folder = join(bench, 'results');
  const parts = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return Object.assign({}, ...parts.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')).tables));
};

/** A page with the tables in their places. */
export const filled = async (page, tables) => {
  const file = join(root, page);
  const text = readFileSync(file, 'utf8').replace(marked, (_, open, name, close) => {
    if (tables[name] === undefined)
      throw new Error(`${page} has a place for the table ${name}, which no part measured.`);
    return `${open}\n${tables[name]}\n\n${close}`;
  });
  return format(text, { ...(await resolveConfig(file)), filepath: file });
};

export const fillDocs = async () => {
  const tables = measuredTables();
  for (const page of pages) writeFileSync(join(root, page), await filled(page, tables));
};
