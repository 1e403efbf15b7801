import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** One example: where it stands, and its code. */
export interface Example {
  readonly where: string;
  readonly code: string;
}

const root = path.resolve(import.meta.dirname, '../..');

const targets = ['events/targets/eventbridge', 'events/targets/sns', 'events/targets/sqs'];

/** The entry points whose exports are public. */
export const entryPoints = ['commands', 'recipes', 'messaging', 'events', ...targets, 'http', 'constructs', 'local']
  .map((folder) => path.join(root, 'lib', folder, 'index.ts'))
  .filter((file) => ts.sys.fileExists(file));

/** The exported functions, classes and constants of an entry point, with the code of their `@example` tags. */
export const publicSymbols = (program: ts.Program, file: string): { name: string; examples: string[] }[] => {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) return [];
  return checker.getExportsOfModule(module).flatMap((exported) => {
    const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    if (!(symbol.flags & ts.SymbolFlags.Value)) return [];
    const examples = symbol
      .getJsDocTags(checker)
      .filter((tag) => tag.name === 'example')
      .map((tag) => ts.displayPartsToString(tag.text));
    return [{ name: exported.name, examples }];
  });
};

/** The TypeScript blocks of the README and of every page in docs, subfolders included. A block after `<!-- no-check -->` is left out. */
export const pageExamples = (): Example[] => {
  const pages = [
    'README.md',
    ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((page) => `docs/${page}`),
  ];
  return pages
    .filter((page) => page.endsWith('.md') && ts.sys.fileExists(path.join(root, page)))
    .flatMap((page) => {
      const text = readFileSync(path.join(root, page), 'utf8');
      return [...text.matchAll(/(<!-- no-check -->\n)?```ts\n([\s\S]*?)```/g)]
        .filter(([, unchecked]) => unchecked === undefined)
        .map(([, , code = ''], i) => ({ where: `${page}, block ${i + 1}`, code }));
    });
};

/** Code fences and a title around an example's code are dropped. */
export const unfenced = (text: string): string => {
  const fenced = /```(?:ts)?\n([\s\S]*?)```/.exec(text);
  return (fenced?.[1] ?? text).trim();
};

const packageNames: Readonly<Record<string, string>> = {
  safewrites: 'commands',
  'safewrites/recipes': 'recipes',
  'safewrites/messaging': 'messaging',
  'safewrites/events': 'events',
  'safewrites/eventbridge': 'events/targets/eventbridge',
  'safewrites/sns': 'events/targets/sns',
  'safewrites/sqs': 'events/targets/sqs',
  'safewrites/http': 'http',
  'safewrites/cdk': 'constructs',
  'safewrites/local': 'local',
};

/**
 * An example as a module of its own: names of the package and of the prelude are imported where it uses and does not
 * declare them; `attributes: { … }` and other object members stand in an object.
 */
export const toModule = (code: string, exportsOf: ReadonlyMap<string, ReadonlySet<string>>): string => {
  const isMember = /^\w+: /.test(code);
  const source = isMember ? `void ({ ${code} });` : code;
  const parsed = ts.createSourceFile('example.ts', source, ts.ScriptTarget.Latest, true);
  const declared = new Set<string>();
  const used = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      const { parent } = node;
      const declares =
        (ts.isVariableDeclaration(parent) ||
          ts.isFunctionDeclaration(parent) ||
          ts.isClassDeclaration(parent) ||
          ts.isParameter(parent) ||
          ts.isBindingElement(parent) ||
          ts.isTypeAliasDeclaration(parent) ||
          ts.isInterfaceDeclaration(parent) ||
          ts.isImportSpecifier(parent) ||
          ts.isNamespaceImport(parent)) &&
        parent.name === node;
      if (declares) declared.add(node.text);
      else if (
        !(ts.isPropertyAccessExpression(parent) && parent.name === node) &&
        !(ts.isPropertyAssignment(parent) && parent.name === node)
      ) {
        used.add(node.text);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed);
  const imports = [...exportsOf].flatMap(([from, names]) => {
    const wanted = [...used].filter((name) => names.has(name) && !declared.has(name));
    wanted.forEach((name) => declared.add(name));
    return wanted.length === 0 ? [] : `import { ${wanted.join(', ')} } from '${from}';`;
  });
  const redirected = source.replace(/from '(safewrites(?:\/\w+)?)'/g, (whole, name: string) => {
    const folder = packageNames[name];
    return folder === undefined ? whole : `from '${path.join(root, 'lib', folder, 'index.js')}'`;
  });
  const hasModuleSyntax = parsed.statements.some(
    (statement) =>
      ts.isImportDeclaration(statement) ||
      (ts.canHaveModifiers(statement) &&
        ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true),
  );
  // A `return` shows what a function around the example would give back.
  const body =
    /^\s*(if .*)?return /m.test(source) && !hasModuleSyntax
      ? `export const example = async () => {\n${redirected}\n};`
      : redirected;
  return [...imports, body, 'export {};'].join('\n');
};
