import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Duration, Stack } from 'aws-cdk-lib';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { build } from 'esbuild';
import { IdempotentEndpoint, SafeWritesTable } from '../../lib/constructs/index.js';

process.env['CDK_VALIDATION'] = 'false';

/** Synthesizes an app whose function is the probe, or the given bundle, and gives the folder. */
export async function synthesizeProbeApp(bundleText?: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'safewrites-start-'));
  await build({
    ...(bundleText === undefined
      ? { entryPoints: [join(import.meta.dirname, 'fixtures/probe.ts')] }
      : { stdin: { contents: bundleText, loader: 'js' as const } }),
    outfile: join(folder, 'code/index.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    mainFields: ['module', 'main'],
  });
  const app = new App({ outdir: join(folder, 'cdk.out') });
  const stack = new Stack(app, 'Probe');
  const endpoint = new IdempotentEndpoint(stack, 'Endpoint', {
    table: new SafeWritesTable(stack, 'Table'),
    code: lambda.Code.fromAsset(join(folder, 'code')),
    path: '/probe',
    timeout: Duration.seconds(2),
  });
  // Leaves other paths and methods to the gateway, as an API without a default route does.
  endpoint.node.tryRemoveChild('Fallback');
  return app.synth().directory;
}
