// Builds what the package ships: dist/esm and dist/cjs with declarations, and the bundled functions.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { build } from 'esbuild';
import ts from 'typescript';
import { buildLambdas } from './build-lambdas.mjs';
import { entryPoints } from './entry-points.mjs';
import { keepNames, mangling, refuseNewNames } from './mangle.mjs';
import { at, isMain, root } from './project.mjs';
import { thirdPartyLicenses } from './third-party-licenses.mjs';
import { writeIfChanged } from './write-if-changed.mjs';

// These cannot be required: the CommonJS build holds a copy of them.
const esmOnly = ['@middy/core'];

/** Builds all of dist/. */
export async function buildPackage() {
  const sources = entryPoints().map(({ source }) => source);
  const missing = sources.find((source) => !existsSync(at(source)));
  if (missing !== undefined) throw new Error(`package.json exports ${missing}, which does not exist.`);
  const files = await reachable(sources);
  // Beside dist/ and moved there when complete, so that nobody meets half a build.
  const temporary = `dist/.build-${process.pid}`;
  try {
    await buildEsm(files, `${temporary}/esm`);
    await Promise.all([buildCjs(files, `${temporary}/cjs`), buildLambdas()]);
    declare(sources, temporary);
    for (const format of ['esm', 'cjs']) {
      rmSync(at('dist', format), { recursive: true, force: true });
      renameSync(at(temporary, format), at('dist', format));
    }
  } finally {
    rmSync(at(temporary), { recursive: true, force: true });
  }
}

const common = { absWorkingDir: root, outbase: 'lib', platform: 'node', target: 'node22', logLevel: 'silent' };

/** The files that the entry points lead to: the local server of this checkout, for one, is not among them. */
async function reachable(entryPoints) {
  const { metafile } = await build({
    ...common,
    entryPoints,
    outdir: 'dist',
    bundle: true,
    format: 'esm',
    packages: 'external',
    ignoreAnnotations: true,
    metafile: true,
    write: false,
  });
  return Object.keys(metafile.inputs).filter((input) => input.startsWith('lib/'));
}

async function buildEsm(entryPoints, outdir) {
  const { mangleCache } = await build({ ...common, ...mangling(), entryPoints, outdir, format: 'esm' });
  keepNames(mangleCache);
}

async function buildCjs(entryPoints, outdir) {
  const { metafile, mangleCache } = await build({
    ...common,
    ...mangling(),
    entryPoints,
    outdir,
    format: 'cjs',
    // Bundling only to take in what cannot be required; everything else stays an import.
    bundle: true,
    plugins: [
      {
        name: 'externals',
        setup: ({ onResolve }) =>
          onResolve({ filter: /.*/ }, ({ path, kind, importer }) => {
            const inside = kind === 'entry-point' || esmOnly.includes(path) || importer.includes('/node_modules/');
            return inside ? undefined : { path, external: true };
          }),
      },
    ],
    define: { 'import.meta.dirname': '__dirname', 'import.meta.filename': '__filename' },
    metafile: true,
    // An import.meta that is left would be undefined.
    logOverride: { 'empty-import-meta': 'error' },
  });
  refuseNewNames(mangleCache);
  writeIfChanged(at(outdir, 'package.json'), `${JSON.stringify({ type: 'commonjs' })}\n`);
  const inputs = Object.keys(metafile.inputs);
  if (inputs.some((input) => input.includes('node_modules/'))) {
    writeIfChanged(at(outdir, 'THIRD-PARTY-LICENSES.txt'), thirdPartyLicenses(inputs));
  }
}

/** Declarations are the same for both formats: the package.json beside them says which they are. */
function declare(sources, outdir) {
  const config = ts.getParsedCommandLineOfConfigFile(
    at('tsconfig.json'),
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: raise },
  );
  const program = ts.createProgram({
    rootNames: sources.map((source) => at(source)),
    options: {
      ...config.options,
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: at('lib'),
      outDir: at(outdir, 'esm'),
    },
  });
  const { diagnostics } = program.emit(undefined, (path, text) => {
    writeIfChanged(path, text);
    writeIfChanged(path.replace(at(outdir, 'esm'), at(outdir, 'cjs')), text);
  });
  const errors = [...ts.getPreEmitDiagnostics(program), ...diagnostics];
  if (errors.length > 0) raise(errors[0]);
}

function raise(diagnostic) {
  throw new Error(
    ts.formatDiagnostic(diagnostic, {
      getCurrentDirectory: () => root,
      getCanonicalFileName: (name) => name,
      getNewLine: () => '\n',
    }),
  );
}

if (isMain(import.meta)) {
  await buildPackage().catch((error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
}
