import path from 'node:path';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { entryPoints, pageExamples, publicSymbols, toModule, unfenced, type Example } from './example-source.js';

const root = path.resolve(import.meta.dirname, '../..');
const prelude = path.join(import.meta.dirname, 'prelude.ts');

const options: ts.CompilerOptions = {
  ...ts.parseJsonConfigFileContent(
    ts.readConfigFile(path.join(root, 'tsconfig.json'), (file) => ts.sys.readFile(file)).config,
    ts.sys,
    root,
  ).options,
  noUnusedLocals: false,
  noUnusedParameters: false,
  noEmit: true,
  // An example imports types and values alike.
  verbatimModuleSyntax: false,
};

describe('examples', () => {
  let symbols: { entry: string; name: string; examples: string[] }[];
  let failures: ReadonlyMap<string, string>;

  beforeAll(() => {
    const program = ts.createProgram([...entryPoints, prelude], options);
    symbols = entryPoints.flatMap((file) =>
      publicSymbols(program, file).map((symbol) => ({ entry: path.basename(path.dirname(file)), ...symbol })),
    );
    const exportsOf = new Map<string, ReadonlySet<string>>();
    for (const file of [prelude, ...entryPoints]) {
      const source = program.getSourceFile(file);
      const module = source && program.getTypeChecker().getSymbolAtLocation(source);
      const names =
        module === undefined
          ? []
          : program
              .getTypeChecker()
              .getExportsOfModule(module)
              .map(({ name }) => name);
      exportsOf.set(file.replace(/\.ts$/, '.js'), new Set(names));
    }
    const examples: Example[] = [
      ...symbols.flatMap(({ entry, name, examples }) =>
        examples.map((code, i) => ({ where: `${entry}: ${name} ${i + 1}`, code: unfenced(code) })),
      ),
      ...pageExamples(),
    ];
    failures = compile(examples, exportsOf);
  }, 120_000);

  it('exist for every exported function, class and constant', () => {
    const without = symbols
      .filter(({ examples }) => examples.length === 0)
      .map(({ entry, name }) => `${entry}: ${name}`);
    expect(without).toEqual([]);
  });

  it('compile', () => {
    expect(Object.fromEntries(failures)).toEqual({});
  });
});

/** The compiler's complaints, by example. */
const compile = (
  examples: readonly Example[],
  exportsOf: ReadonlyMap<string, ReadonlySet<string>>,
): Map<string, string> => {
  const files = new Map(
    examples.map(({ code }, i) => [path.join(import.meta.dirname, `example-${i}.ts`), toModule(code, exportsOf)]),
  );
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.fileExists = (file) => files.has(file) || ts.sys.fileExists(file);
  host.readFile = (file) => files.get(file) ?? ts.sys.readFile(file);
  host.getSourceFile = (file, language) => {
    const code = files.get(file);
    return code === undefined ? read(file, language) : ts.createSourceFile(file, code, language, true);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  const failures = new Map<string, string>();
  [...files.keys()].forEach((file, i) => {
    const source = program.getSourceFile(file);
    const problems = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    if (problems.length === 0) return;
    const messages = problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
    failures.set((examples[i] as Example).where, `${messages.join('\n')}\n${files.get(file) ?? ''}`);
  });
  return failures;
};
