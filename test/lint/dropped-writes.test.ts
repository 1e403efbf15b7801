import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { expect, it } from 'vitest';

const fixture = join(import.meta.dirname, 'fixtures/dropped-writes.ts');

it('a write that nobody awaits is an error of no-floating-promises with its default options', async () => {
  // Not our own configuration: what counts is what a user of the recommended one is told.
  const eslint = new ESLint({
    overrideConfigFile: true,
    overrideConfig: [
      {
        files: ['**/*.ts'],
        languageOptions: { parser: tseslint.parser, parserOptions: { projectService: true } },
        plugins: { '@typescript-eslint': tseslint.plugin },
        rules: { '@typescript-eslint/no-floating-promises': 'error' },
      },
    ],
  });
  const [result] = await eslint.lintFiles(fixture);
  const dropped = readFileSync(fixture, 'utf8')
    .split('\n')
    .flatMap((line, index) => (line.endsWith('// dropped') ? [index + 1] : []));
  expect(dropped.length).toBeGreaterThan(0);
  expect(result!.messages.map(({ line, ruleId }) => [line, ruleId])).toEqual(
    dropped.map((line) => [line, '@typescript-eslint/no-floating-promises']),
  );
}, 60_000);
