import { resolve } from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { bundling } from '../../scripts/bundling.mjs';

const root = resolve(import.meta.dirname, '../..');

/** Minified bytes with the SDK outside. A limit is a little above what was reached: what is added has to be worth it. */
const bundles = [
  { name: 'one get and one update', entry: 'bench/size/get-update.mjs', limit: 49_200 },
  { name: 'the charge function', entry: 'lambdas/charge/index.ts', limit: 83_150 },
  { name: 'the ingest function', entry: 'lambdas/ingest/index.ts', limit: 83_000 },
  { name: 'the relay function', entry: 'lambdas/relay/index.ts', limit: 92_900 },
];

it.each(bundles)('keeps the bundle of $name below $limit bytes', async ({ entry, limit }) => {
  const { outputFiles } = await build({
    ...bundling(),
    entryPoints: [entry],
    external: ['@aws-sdk/*', '@smithy/*'],
    alias: { safewrites: resolve(root, 'lib/commands/index.ts') },
  });
  const bytes = outputFiles[0]?.contents.length ?? 0;
  console.info(`${entry}: ${bytes} bytes`);
  expect(bytes).toBeGreaterThan(limit / 2);
  expect(bytes).toBeLessThan(limit);
});
