import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const support = join(root, 'test/support/dynamodb.ts');
const IMPORT = /\bfrom '(\.{1,2}\/[^']+)\.js'/g;

/** The test files that take their DynamoDB from `testDynamoDB`, themselves or through a helper: they run on any. */
export function integrationTests(): string[] {
  const known = new Map<string, boolean>();
  const integrates = (file: string): boolean => {
    const answer = known.get(file);
    if (answer !== undefined) return answer;
    // For files that import each other.
    known.set(file, false);
    const text = readFileSync(file, 'utf8');
    const helpers = [...text.matchAll(IMPORT)]
      .map(([, path]) => `${join(dirname(file), path!)}.ts`)
      .filter((helper) => helper !== support && helper.startsWith(join(root, 'test')) && existsSync(helper));
    const found = /\btestDynamoDB\b/.test(text) || helpers.some(integrates);
    known.set(file, found);
    return found;
  };
  return globSync('test/**/*.test.ts', { cwd: root })
    .map((file) => join(root, file))
    .filter(integrates)
    .map((file) => relative(root, file))
    .sort();
}
