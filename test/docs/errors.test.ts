import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { SafeWritesError } from '../../lib/commands/index.js';
import { entryPoints } from './example-source.js';

const root = path.resolve(import.meta.dirname, '../..');

/** The rows of the table, by the name of the error. */
const rows = new Map(
  readFileSync(path.join(root, 'docs/errors.md'), 'utf8')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .flatMap(([, name = '', from = '', ...cells]) => {
      const [, error] = /^`(\w+)`$/.exec(name) ?? [];
      return error === undefined
        ? []
        : [[error, { from: from.replaceAll('`', ''), cells: cells.slice(0, 3) }] as const];
    }),
);

const packageOf = (file: string): string => {
  const folder = path.relative(path.join(root, 'lib'), path.dirname(file));
  const names: Record<string, string> = { commands: '', constructs: '/cdk' };
  return `safewrites${names[folder] ?? `/${path.basename(folder)}`}`;
};

describe('docs/errors.md', () => {
  const errors = new Map<string, { from: string; type: { prototype: unknown } }>();
  beforeAll(async () => {
    for (const file of entryPoints) {
      const exported = (await import(file)) as Record<string, unknown>;
      for (const [name, value] of Object.entries(exported)) {
        if (typeof value !== 'function' || !(value.prototype instanceof Error)) continue;
        // The first that has it, should another one hand it on.
        if (!errors.has(name)) errors.set(name, { from: packageOf(file), type: value });
      }
    }
  }, 120_000);

  it('has a row for each class of error that is exported, and for none that is not', () => {
    expect([...rows.keys()].sort()).toEqual([...errors.keys()].sort());
  });

  it('says where each comes from, when it is thrown, and what to do', () => {
    for (const [name, { from }] of errors) {
      expect(rows.get(name)).toMatchObject({ from });
      const [when, , what] = rows.get(name)?.cells ?? [];
      expect(when, name).not.toBe('');
      expect(what, name).not.toBe('');
    }
  });

  it('has all but the last three as errors of the one base', () => {
    const isOfBase = (name: string): boolean => {
      const { prototype } = errors.get(name)?.type ?? {};
      return (
        prototype === SafeWritesError.prototype ||
        Object.prototype.isPrototypeOf.call(SafeWritesError.prototype, prototype as object)
      );
    };
    const others = [...rows.keys()].filter((name) => !isOfBase(name));
    expect(others).toEqual([...rows.keys()].slice(-3));
  });
});
