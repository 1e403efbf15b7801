import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filled, measuredTables, pages } from '../../bench/lib/docs.mjs';

const root = join(import.meta.dirname, '../..');

describe('tables of measured figures', () => {
  it.each(pages)('of %s are those that the last measurement wrote', async (page) => {
    expect(readFileSync(join(root, page), 'utf8')).toBe(await filled(page, measuredTables()));
  });

  it('all have a place in a page', () => {
    const text = pages.map((page) => readFileSync(join(root, page), 'utf8')).join('\n');
    const places = [...text.matchAll(/<!-- bench:([\w-]+) -->/g)].map(([, name]) => name);
    expect(places.sort()).toEqual(Object.keys(measuredTables()).sort());
  });

  it('fill a place, whatever was in it, and refuse one without a table', async () => {
    const tables = Object.fromEntries(Object.keys(measuredTables()).map((name) => [name, `| ${name} |\n| --- |`]));
    const [page = ''] = pages;
    expect(await filled(page, tables)).toContain('<!-- bench:size -->\n\n| size |\n| ---- |\n\n<!-- /bench:size -->');
    await expect(filled(page, {})).rejects.toThrow('which no part measured');
  });
});
