import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { mangling } from '../../scripts/mangle.mjs';
import { bench, root } from '../lib/paths.mjs';

const empty = join(import.meta.dirname, 'empty.mjs');

/** The checkout and this package have a copy each; a bundle holds one. */
const oneSdk = Object.fromEntries(
  ['@aws-sdk/client-dynamodb', '@smithy/core'].map((name) => [name, join(bench, 'node_modules', name)]),
);

/** A minified bundle of one entry, the SDK outside or inside, and what is in it by package or folder. */
export async function bundled(entry, sdk, outfile) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'silent',
    nodePaths: [join(bench, 'node_modules')],
    alias: {
      safewrites: join(root, 'dist/esm/commands/index.js'),
      'avro-js': empty,
      protobufjs: empty,
      ...(sdk === 'bundled' && oneSdk),
    },
    external: sdk === 'external' ? ['@aws-sdk/*', '@smithy/*'] : [],
    ...mangling(),
  });
  const [{ contents }] = outputFiles;
  const [output] = Object.values(metafile.outputs);
  return { contents, bytes: contents.length, gzip: gzipSync(contents).length, inputs: output.inputs };
}
