// Bundles each folder of lambdas/ into dist/lambdas/<name>/index.mjs, with the AWS SDK inside: the runtime's own SDK
// differs by Region and starts slower. What is imported on demand (the SDK's sources of credentials, the clients of
// targets) is in chunks beside it, which a cold start does not read: it takes a third less CPU.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { bundling } from './bundling.mjs';
import { refuseNewNames } from './mangle.mjs';
import { at, isMain } from './project.mjs';
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
    ...bundling(),
    entryPoints: [{ in: `lambdas/${name}/index.ts`, out: 'index' }],
    outdir: `dist/lambdas/${name}`,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunk-[hash]',
    splitting: true,
    sourcemap: 'linked',
    // Stack traces need names and lines, not the text.
    sourcesContent: false,
    metafile: true,
  });
  refuseNewNames(mangleCache);
  const leaked = Object.keys(metafile.inputs).find((input) => refused.test(input));
  if (leaked !== undefined) throw new Error(`lambdas/${name} must not bundle ${leaked}: see CONTRIBUTING.md.`);
  if (outputFiles.some(({ text }) => text.includes('Dynamic require of'))) {
    throw new Error(`lambdas/${name} bundles CommonJS code that requires a module of Node: an ES module cannot.`);
  }
  for (const file of outputFiles) writeIfChanged(file.path, file.contents);
  writeIfChanged(`${folder}/THIRD-PARTY-LICENSES.txt`, thirdPartyLicenses(Object.keys(metafile.inputs)));
  // The chunks of other versions; not what a build beside this one is about to rename.
  const written = new Set(outputFiles.map(({ path }) => basename(path)));
  for (const file of readdirSync(folder)) {
    if (/^chunk-\w+\.mjs(\.map)?$/.test(file) && !written.has(file)) rmSync(join(folder, file), { force: true });
  }
}

if (isMain(import.meta)) {
  const { formatMessages } = await import('esbuild');
  await buildLambdas().catch(async (error) => {
    const text = error.errors ? (await formatMessages(error.errors, { kind: 'error' })).join('') : `${error.message}\n`;
    process.stderr.write(text);
    process.exitCode = 1;
  });
}
