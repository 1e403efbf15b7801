import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { describe, expect, it } from 'vitest';

// The real configuration, without types: the snippets are no files of the project.
const eslint = new ESLint({ overrideConfig: [tseslint.configs.disableTypeChecked] });

/** What is said about imports in a file with this text. */
async function refusals(filePath: string, text: string): Promise<string[]> {
  const [result] = await eslint.lintText(text, { filePath });
  return result!.messages.filter(({ ruleId }) => ruleId === 'safewrites/one-way-imports').map(({ message }) => message);
}

const parts = ['commands', 'recipes', 'messaging', 'events', 'http', 'constructs', 'local'];
const allowed: Record<string, string[]> = {
  commands: [],
  recipes: ['commands'],
  messaging: ['commands', 'recipes'],
  events: ['commands', 'recipes'],
  http: ['commands', 'recipes'],
  constructs: [],
  local: [],
};

describe.each(parts)('a file of lib/%s', (part) => {
  const files = [`lib/${part}/file.ts`, `lib/${part}/folder/deeper/file.ts`];
  const up = (file: string) => '../'.repeat(file.split('/').length - 2);

  it.each(parts.filter((other) => other !== part))('imports lib/%s only where that is below it', async (other) => {
    for (const file of files) {
      const found = await refusals(file, `import '${up(file)}${other}/index.js';`);
      expect(found).toEqual(
        allowed[part]!.includes(other) ? [] : [expect.stringContaining(`lib/${part} may not import lib/${other}`)],
      );
    }
  });

  it('imports its own folder, and one of its own that is named like another part', async () => {
    const own = parts.find((other) => other !== part);
    expect(await refusals(`lib/${part}/file.ts`, `import './other.js'; import './${own}/x.js';`)).toEqual([]);
    expect(await refusals(`lib/${part}/deeper/file.ts`, `import '../other.js'; import '../${own}/x.js';`)).toEqual([]);
  });

  it.each([
    'lambdas/charge/index.js',
    'bin/app.js',
    'test/support/x.js',
    'examples/x.js',
    'bench/x.js',
    'scripts/x.mjs',
  ])('does not import %s', async (target) => {
    expect(await refusals(`lib/${part}/file.ts`, `import '../../${target}';`)).toHaveLength(1);
  });

  it('does not import the package itself', async () => {
    expect(await refusals(`lib/${part}/file.ts`, `import 'safewrites/local';`)).toHaveLength(1);
  });
});

describe('every way to import', () => {
  it.each([
    "import { x } from '../local/index.js';",
    "import type { X } from '../local/index.js';",
    "export { x } from '../local/index.js';",
    "export type { X } from '../local/index.js';",
    "export * from '../local/index.js';",
    "export const x = () => import('../local/index.js');",
    "export const x: import('../local/index.js').X = 1;",
    "const x = require('../local/index.js');",
  ])('is seen: %s', async (text) => {
    expect(await refusals('lib/commands/file.ts', text)).toHaveLength(1);
  });
});

describe('packages', () => {
  it.each([
    ['lib/commands/table/x.ts', 'aws-cdk-lib', 1],
    ['lib/local/x.ts', 'constructs', 1],
    ['lambdas/charge/x.ts', 'aws-cdk-lib/aws-lambda', 1],
    ['lib/constructs/x.ts', 'aws-cdk-lib/aws-lambda', 0],
    ['bin/x.ts', 'aws-cdk-lib', 0],
    ['lib/http/x.ts', 'dynalite', 1],
    ['lib/local/x.ts', 'dynalite/db', 0],
    ['lib/commands/entity/x.ts', '@aws-sdk/client-dynamodb', 1],
    ['lib/commands/keys/x.ts', '@smithy/core/retry', 1],
    ['lib/constructs/x.ts', '@aws-sdk/client-dynamodb', 1],
    ['lib/commands/get/x.ts', '@aws-sdk/client-dynamodb', 0],
  ])('%s importing %s', async (file, name, count) => {
    expect(await refusals(file, `import '${name}';`)).toHaveLength(count);
  });

  it('may give an entity types of the SDK, since types load nothing', async () => {
    const text = "import type { AttributeValue } from '@aws-sdk/client-dynamodb';";
    expect(await refusals('lib/commands/entity/x.ts', text)).toEqual([]);
  });

  it('of an entity are held to the layers too', async () => {
    const text = "import '../../local/index.js'; import '@aws-sdk/client-dynamodb';";
    expect(await refusals('lib/commands/entity/x.ts', text)).toHaveLength(2);
  });
});

describe('a Lambda', () => {
  it.each([
    ['constructs', 1],
    ['local', 1],
    ['commands', 0],
    ['http', 0],
  ])('importing lib/%s', async (part, count) => {
    expect(await refusals('lambdas/charge/x.ts', `import '../../lib/${part}/index.js';`)).toHaveLength(count);
  });
});
