import { dirname, posix, relative, resolve, sep } from 'node:path';

/**
 * An ESLint rule: which parts of the house, and which packages, the files of a part may import.
 *
 * `no-restricted-imports` sees neither `import()` nor types, cannot tell a layer from a folder of the same name inside
 * another, and its last matching block replaces the others.
 */
export const oneWayImports = {
  meta: {
    type: 'problem',
    schema: [{ type: 'object' }],
    messages: {
      part: '{{from}} may not import {{to}}: imports go one way (CONTRIBUTING.md).',
      package: '{{from}} may not import {{to}}: {{why}} (CONTRIBUTING.md).',
      self: 'Import the sources, not the built package.',
    },
  },
  create(context) {
    const { root, parts, packages } = context.options[0];
    const file = toPosix(relative(root, context.filename));
    const from = partOf(file, parts);
    if (from === undefined) return {};
    const check = (source, typeOnly) => {
      if (source?.type !== 'Literal' || typeof source.value !== 'string') return;
      const report = (messageId, to, why) => context.report({ node: source, messageId, data: { from, to, why } });
      const specifier = source.value;
      if (specifier.startsWith('.')) {
        const target = toPosix(relative(root, resolve(dirname(context.filename), specifier)));
        const to = partOf(target, parts) ?? posix.dirname(target);
        if (to !== from && !parts[from].includes(to)) report('part', to);
        return;
      }
      if (specifier === 'safewrites' || specifier.startsWith('safewrites/')) report('self', specifier);
      for (const { names, only, except, why, types } of packages) {
        if (types && typeOnly) continue;
        if (!names.some((name) => specifier === name || specifier.startsWith(`${name}/`))) continue;
        const under = (folders) => folders.some((folder) => file.startsWith(`${folder}/`));
        if (only ? !under(only) : under(except)) report('package', specifier, why);
      }
    };
    return {
      ImportDeclaration: ({ source, importKind }) => check(source, importKind === 'type'),
      ExportNamedDeclaration: ({ source, exportKind }) => check(source, exportKind === 'type'),
      ExportAllDeclaration: ({ source, exportKind }) => check(source, exportKind === 'type'),
      ImportExpression: ({ source }) => check(source),
      TSImportType: ({ source }) => check(source, true),
      CallExpression: ({ callee, arguments: [first] }) => {
        if (callee.type === 'Identifier' && callee.name === 'require') check(first);
      },
    };
  },
};

const toPosix = (path) => path.split(sep).join('/');

/** The longest part that the path lies in. */
const partOf = (path, parts) =>
  Object.keys(parts)
    .filter((part) => path.startsWith(`${part}/`))
    .sort((a, b) => b.length - a.length)[0];
