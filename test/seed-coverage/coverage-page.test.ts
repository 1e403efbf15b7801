import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

/** Names that a page gives, as `file › name of a test`; files are those of test, or of examples. */
const namedIn = (page: string) =>
  [...page.matchAll(/`([^`›]+\.test(?:-d)?\.ts) › ([^`]+)`/g)].map(([, file = '', name = '']) => ({
    file: path.join(root, file.startsWith('examples/') ? file : `test/${file}`),
    name,
  }));

const callee = (node: ts.Expression): string =>
  ts.isIdentifier(node)
    ? node.text
    : ts.isPropertyAccessExpression(node) || ts.isCallExpression(node) || ts.isTaggedTemplateExpression(node)
      ? callee(ts.isTaggedTemplateExpression(node) ? node.tag : node.expression)
      : '';

/** The names of the tests of a file, as they are written. */
const testsOf = (file: string): string[] => {
  if (!ts.sys.fileExists(file)) return [];
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ['it', 'test'].includes(callee(node.expression))) {
      const [title] = node.arguments;
      if (title !== undefined && ts.isStringLiteralLike(title)) names.push(title.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true));
  return names;
};

describe.each([
  { file: 'docs/seed-coverage.md', rowsAtLeast: 100 },
  { file: 'docs/seed-coverage-messaging.md', rowsAtLeast: 25 },
])('$file', ({ file: pageFile, rowsAtLeast }) => {
  const page = readFileSync(path.join(root, pageFile), 'utf8');
  const named = namedIn(page);

  it('names tests', () => {
    expect(named.length).toBeGreaterThanOrEqual(rowsAtLeast);
  });

  it('names tests that exist, each by a name that only one test of its file has', () => {
    const tests = new Map([...new Set(named.map(({ file }) => file))].map((file) => [file, testsOf(file)]));
    const wrong = named.filter(({ file, name }) => tests.get(file)?.filter((test) => test === name).length !== 1);
    expect(wrong.map(({ file, name }) => `${path.relative(root, file)} › ${name}`)).toEqual([]);
  });

  it('names a test in every row, or says that there is none', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('|') && !/^\| (---|the document) /.test(line));
    expect(rows.length).toBeGreaterThanOrEqual(rowsAtLeast);
    expect(rows.filter((row) => !/ › |there is no test/.test(row))).toEqual([]);
  });
});
