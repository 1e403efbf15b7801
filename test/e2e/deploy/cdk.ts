import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { REGION, type Account } from './account.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs the CDK's CLI on the app of this repository, as a user does, against that account; offline beside it. */
export async function cdk({ endpoint, home, certificate }: Account, ...args: string[]): Promise<void> {
  const options = ['--no-notices', '--no-version-reporting', '--ci', '--output', join(home, 'cdk.out')];
  const child = spawn(process.execPath, [join(root, 'node_modules/aws-cdk/bin/cdk'), ...args, ...options], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Nothing of the user's own account.
    env: {
      PATH: [join(root, 'node_modules/.bin'), dirname(process.execPath), process.env['PATH']].join(':'),
      HOME: home,
      TMPDIR: home,
      AWS_ENDPOINT_URL: endpoint,
      AWS_CA_BUNDLE: certificate,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_EC2_METADATA_DISABLED: 'true',
      CDK_DISABLE_CLI_TELEMETRY: 'true',
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  if (code !== 0) throw new Error(`cdk ${args.join(' ')} ended with ${String(code)}:\n${output}`);
}

/** Deploys the app and gives the outputs of its stack. */
export async function deploy(account: Account, ...args: string[]): Promise<Readonly<Record<string, string>>> {
  const file = join(account.home, 'outputs.json');
  await cdk(account, 'deploy', '--require-approval', 'never', '--outputs-file', file, ...args);
  const stacks = Object.values(JSON.parse(await readFile(file, 'utf8')) as Record<string, Record<string, string>>);
  if (stacks.length !== 1) throw new Error(`${stacks.length} stacks have outputs, not one.`);
  return stacks[0]!;
}
