import { join } from 'node:path';
import { ESLint, Linter } from 'eslint';
import tseslint from 'typescript-eslint';
import { expect, it } from 'vitest';

it('the name of an internal member in quotes is an error, since what is shipped has another; as a type it is none', async () => {
  const root = join(import.meta.dirname, '../..');
  const config = (await new ESLint({ cwd: root }).calculateConfigForFile(
    join(root, 'lib/commands/expressions/condition.ts'),
  )) as Linter.Config;
  const rule = 'no-restricted-syntax';
  const errorsOf = (code: string): string[] =>
    new Linter()
      .verify(
        code,
        [
          {
            files: ['**/*.ts'],
            languageOptions: { parser: tseslint.parser },
            rules: { [rule]: config.rules?.[rule] },
          },
        ],
        'a.ts',
      )
      .map(({ ruleId }) => String(ruleId));
  expect(errorsOf("if ('inserts_' in data) run(data['strings_'], data[`kept_`]);")).toEqual([rule, rule, rule]);
  expect(errorsOf("type Kind = Pick<Parts, 'kind_'>['kind_']; data.kind_ = 'OUTBOX_1' + `${at}_`;")).toEqual([]);
});
