import tseslint from 'typescript-eslint';
import { oneWayImports } from './scripts/one-way-imports.mjs';

// What each part of the house may import, beside itself. No Lambda bundle can then hold the CDK or the local engine, and
// the constructs can be used without loading the SDK.
const parts = {
  'lib/commands': [],
  'lib/recipes': ['lib/commands'],
  'lib/messaging': ['lib/commands', 'lib/recipes'],
  'lib/events': ['lib/commands', 'lib/recipes'],
  'lib/http': ['lib/commands', 'lib/recipes'],
  'lib/constructs': [],
  'lib/local': [],
  lambdas: ['lib/commands', 'lib/recipes', 'lib/messaging', 'lib/events', 'lib/http'],
  bin: ['lib/constructs'],
};

const packages = [
  {
    names: ['aws-cdk-lib', 'constructs'],
    only: ['lib/constructs', 'bin'],
    why: 'only the constructs and the app know the CDK',
  },
  { names: ['dynalite', 'fauxqs'], only: ['lib/local'], why: 'only lib/local knows an emulator' },
  { names: ['@platformatic'], only: ['lib/local/kafka'], why: 'only who polls Kafka loads its client' },
  {
    names: ['@aws-sdk', '@smithy'],
    except: ['lib/constructs', 'bin', 'lib/commands/attributes', 'lib/commands/keys', 'lib/commands/entity'],
    types: true,
    why: 'entities and constructs load no SDK; types are free',
  },
];

export default tseslint.config(
  { ignores: ['dist', 'cdk.out', 'coverage', 'node_modules', '.local', 'test/lint/fixtures'] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { safewrites: { rules: { 'one-way-imports': oneWayImports } } },
    rules: {
      'safewrites/one-way-imports': ['error', { root: import.meta.dirname, parts, packages }],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
    },
  },
  {
    files: ['lib/**/*.ts', 'lambdas/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...[
          ':not(TSLiteralType) > Literal[value=/^[A-Za-z]+_$/]',
          'TemplateLiteral[expressions.length=0] > TemplateElement[value.raw=/^[A-Za-z]+_$/]',
        ].map((selector) => ({
          selector,
          message: 'A member whose name ends in _ has another name in what is shipped: write it without quotes.',
        })),
      ],
    },
  },
  {
    files: ['**/*.mjs'],
    ...tseslint.configs.disableTypeChecked,
  },
);
