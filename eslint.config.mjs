import tseslint from 'typescript-eslint';

// Which folders a folder may import, beside itself. Everything else in the house is refused: see docs/architecture in
// CONTRIBUTING.md. `constructs` and `local` import no run-time code, so that no Lambda bundle can pull them in and they
// can be used without it.
const layers = {
  commands: [],
  recipes: ['commands'],
  messaging: ['commands', 'recipes'],
  events: ['commands', 'recipes'],
  http: ['commands', 'recipes'],
  constructs: [],
  local: [],
};
const folders = Object.keys(layers);

const layerRules = folders.map((folder) => {
  const refused = folders.filter((other) => other !== folder && !layers[folder].includes(other));
  return {
    files: [`lib/${folder}/**/*.ts`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: `^(\\.\\./)+(lib/)?(${[...refused, 'lambdas', 'bin', 'test', 'examples', 'bench'].join('|')})(/|$)`,
              message: `lib/${folder} may import only ${[folder, ...layers[folder]].join(', ')}: imports go one way (CONTRIBUTING.md).`,
            },
            ...(folder === 'constructs'
              ? []
              : [{ regex: '^(aws-cdk-lib|constructs)(/|$)', message: 'Only lib/constructs and bin may import the CDK.' }]),
            ...(folder === 'local'
              ? []
              : [{ regex: '^(dynalite|fauxqs)(/|$)', message: 'Only lib/local may import an emulator.' }]),
          ],
        },
      ],
    },
  };
});

export default tseslint.config(
  { ignores: ['dist', 'cdk.out', 'coverage', 'node_modules', '.local'] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: { allowDefaultProject: ['*.mjs', 'scripts/*.mjs'] } } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
    },
  },
  ...layerRules,
  {
    // An entity is plain data: what lists key prefixes at synth time must not load the SDK.
    files: ['lib/commands/attributes/**/*.ts', 'lib/commands/keys/**/*.ts', 'lib/commands/entity/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: '^@(aws-sdk|smithy)/', message: 'Entities import no SDK.', allowTypeImports: false }] },
      ],
    },
  },
  {
    files: ['lambdas/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            { regex: '(^aws-cdk-lib|^constructs$|/(constructs|local)(/|$))', message: 'No Lambda bundles the CDK, constructs or local.' },
          ],
        },
      ],
    },
  },
  {
    files: ['**/*.mjs'],
    ...tseslint.configs.disableTypeChecked,
  },
);
