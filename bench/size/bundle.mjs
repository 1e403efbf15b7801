import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { bundling } from '../../scripts/bundling.mjs';
import { bench, root } from '../lib/paths.mjs';

const empty = join(import.meta.dirname, 'empty.mjs');

/** The checkout and this package have an SDK each; what is loaded holds one. */
const oneSdk = {
  name: 'one-sdk',
  setup({ onResolve, resolve }) {
    const resolved = Symbol('resolved');
    onResolve({ filter: /^@(aws-sdk|smithy)\// }, ({ path, kind, importer, resolveDir, pluginData }) => {
      if (pluginData === resolved || resolveDir.startsWith(join(bench, 'node_modules'))) return undefined;
      return resolve(path, { kind, importer, resolveDir: bench, pluginData: resolved });
    });
  },
};

const options = (entry) => ({
  ...bundling(),
  entryPoints: [entry],
  metafile: true,
  nodePaths: [join(bench, 'node_modules')],
  alias: {
    safewrites: join(root, 'dist/esm/commands/index.js'),
    'avro-js': empty,
    protobufjs: empty,
  },
});

/** A minified bundle of one entry with the SDK outside, and what is in it by input. */
export async function bundled(entry, outfile) {
  const external = ['@aws-sdk/*', '@smithy/*'];
  const { outputFiles, metafile } = await build({ ...options(entry), outfile, external });
  const [{ contents }] = outputFiles;
  const [output] = Object.values(metafile.outputs);
  return { contents, bytes: contents.length, gzip: gzipSync(contents).length, inputs: output.inputs };
}

// CommonJS of a peer requires modules of Node, which an ES module has to be told.
const js = `import { createRequire as benchCreateRequire } from 'node:module';const require = benchCreateRequire(import.meta.url);`;

/** An entry as the kit ships its functions: the SDK inside, in chunks, so that what is loaded on demand stays apart. */
export async function shipped(entry, folder) {
  const chunked = {
    ...options(entry),
    plugins: [oneSdk],
    entryPoints: [{ in: entry, out: 'index' }],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'chunk-[hash]',
    splitting: true,
  };
  let { outputFiles } = await build(chunked);
  if (outputFiles.some(({ text }) => text.includes('Dynamic require of'))) {
    ({ outputFiles } = await build({ ...chunked, banner: { js } }));
  }
  mkdirSync(folder, { recursive: true });
  for (const { path, contents } of outputFiles) writeFileSync(join(folder, basename(path)), contents);
  return join(folder, 'index.mjs');
}
