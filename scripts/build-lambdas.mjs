// Bundles each folder of lambdas/ into dist/lambdas/<name>/index.mjs, with the AWS SDK inside: the runtime's own SDK
// differs by Region and starts slower.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { build } from 'esbuild';
import { mangling, refuseNewNames } from './mangle.mjs';
import { at, isMain, root } from './project.mjs';
import { thirdPartyLicenses } from './third-party-licenses.mjs';
import { writeIfChanged } from './write-if-changed.mjs';

const refused = /^(node_modules\/(aws-cdk-lib|constructs|dynalite)\/|lib\/(constructs|local)\/|test\/)/;

/** The names of the kit's functions. */
export const lambdaNames = () =>
  readdirSync(at('lambdas')).filter((name) => existsSync(at('lambdas', name, 'index.ts')));

/** Bundles every function. */
export async function buildLambdas() {
  const names = lambdaNames();
  await Promise.all(names.map(buildLambda));
  if (!existsSync(at('dist/lambdas'))) return;
  for (const name of readdirSync(at('dist/lambdas'))) {
    if (!names.includes(name)) rmSync(at('dist/lambdas', name), { recursive: true });
  }
}

async function buildLambda(name) {
  const folder = at('dist/lambdas', name);
  const { outputFiles, metafile, mangleCache } = await build({
    ...mangling(),
    absWorkingDir: root,
    entryPoints: [`lambdas/${name}/index.ts`],
    outfile: `dist/lambdas/${name}/index.mjs`,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    minify: true,
    sourcemap: 'linked',
    // Stack traces need names and lines, not the text.
    sourcesContent: false,
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  refuseNewNames(mangleCache);
  const leaked = Object.keys(metafile.inputs).find((input) => refused.test(input));
  if (leaked !== undefined) throw new Error(`lambdas/${name} must not bundle ${leaked}: see CONTRIBUTING.md.`);
  if (outputFiles.some(({ text }) => text.includes('Dynamic require of'))) {
    throw new Error(`lambdas/${name} bundles CommonJS code that requires a module of Node: an ES module cannot.`);
  }
  for (const file of outputFiles) writeIfChanged(file.path, file.contents);
  writeIfChanged(`${folder}/THIRD-PARTY-LICENSES.txt`, thirdPartyLicenses(Object.keys(metafile.inputs)));
}

if (isMain(import.meta)) {
  const { formatMessages } = await import('esbuild');
  await buildLambdas().catch(async (error) => {
    const text = error.errors ? (await formatMessages(error.errors, { kind: 'error' })).join('') : `${error.message}\n`;
    process.stderr.write(text);
    process.exitCode = 1;
  });
}
