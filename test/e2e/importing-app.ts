import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A template, as far as the tests read it. */
export interface Template {
  readonly Resources: Record<string, { readonly Type: string; readonly Properties: Record<string, unknown> }>;
}

/** An app with the packed package installed, once as a CommonJS and once as an ES module project. */
export interface ImportingApp {
  /** Where `node_modules` is. */
  readonly folder: string;
  readonly formats: readonly ('commonjs' | 'module')[];
  /** Type-checks and compiles the app of a format; gives what the compiler said. */
  compile(format: 'commonjs' | 'module'): string;
  /** Synthesizes a compiled file of that app, with no command on the path but Node: the templates by stack. */
  synth(format: 'commonjs' | 'module', file: string): Record<string, Template>;
}

/** What `cdk init app --language typescript` writes into tsconfig.json, without its jest. */
const compilerOptions = {
  ...{ target: 'ES2022', module: 'NodeNext', moduleResolution: 'NodeNext', lib: ['es2022'], declaration: true },
  ...{ strict: true, noImplicitAny: true, strictNullChecks: true, noImplicitThis: true, alwaysStrict: true },
  ...{ noImplicitReturns: true, inlineSourceMap: true, inlineSources: true, experimentalDecorators: true },
  ...{ strictPropertyInitialization: false, skipLibCheck: true, isolatedModules: true, types: ['node'] },
  ...{ rootDir: '.', outDir: 'out' },
};

const run = (command: string, args: string[], cwd: string, env: NodeJS.ProcessEnv = process.env): string =>
  execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** Makes the app of `examples/importer`, with further files, over a version of the CDK. */
export function importingApp(
  tarball: string,
  versions: { readonly cdk: string; readonly constructs: string },
  files: Readonly<Record<string, string>>,
): ImportingApp {
  const folder = mkdtempSync(join(tmpdir(), 'safewrites-importer-'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }));
  const packages = [
    `aws-cdk-lib@${versions.cdk}`,
    `constructs@${versions.constructs}`,
    'typescript@7.0.2',
    '@types/node@24',
  ];
  run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', tarball, ...packages],
    folder,
  );
  const formats = ['commonjs', 'module'] as const;
  for (const format of formats) {
    const app = join(folder, format);
    cpSync('examples/importer', app, { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(app, name)), { recursive: true });
      writeFileSync(join(app, name), text);
    }
    writeFileSync(join(app, 'package.json'), JSON.stringify({ private: true, type: format }));
    writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, exclude: ['out', 'cdk.out'] }));
    // As the example's README says; the importer of another bundler, or of a build machine, has no esbuild of its own.
    const bundle = ['--bundle', '--platform=node', '--format=esm', '--target=node24', '--minify', '--log-level=error'];
    const esbuild = join(process.cwd(), 'node_modules/esbuild/bin/esbuild');
    run(esbuild, ['handlers/open-account.ts', ...bundle, '--outfile=dist/open-account/index.mjs'], app);
  }
  return {
    folder,
    formats,
    compile(format) {
      try {
        return run(process.execPath, [join(folder, 'node_modules/typescript/bin/tsc')], join(folder, format));
      } catch (error) {
        return (error as { stdout: string }).stdout;
      }
    },
    synth(format, file) {
      const app = join(folder, format);
      const outdir = join(app, 'cdk.out', file);
      const env = { PATH: '/nowhere', HOME: folder, CDK_OUTDIR: outdir, CDK_VALIDATION: 'false' };
      run(process.execPath, [join('out', file)], app, env);
      const templates = readdirSync(outdir).filter((name) => name.endsWith('.template.json'));
      return Object.fromEntries(
        templates.map((name) => [
          name.replace('.template.json', ''),
          JSON.parse(readFileSync(join(outdir, name), 'utf8')) as Template,
        ]),
      );
    },
  };
}
