// Synthesizes the app into cdk.out/, offline: no credentials, no docker, nothing sent anywhere.
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { at, isMain, root } from './project.mjs';

const output = 'cdk.out';

/** Through the CDK CLI, as `cdk deploy` does it. */
export const synthWithCli = (args) =>
  synth('cdk', ['synth', '--quiet', '--no-notices', '--no-version-reporting', ...args], {
    CDK_DISABLE_CLI_TELEMETRY: 'true',
  });

/** The app alone, without the CLI: for what only wants the template, seconds sooner. The bundles must exist. */
export const synthWithoutCli = () =>
  synth('tsx', ['bin/app.ts'], {
    CDK_OUTDIR: at(output),
    CDK_CONTEXT_JSON: JSON.stringify(JSON.parse(readFileSync(at('cdk.json'), 'utf8')).context),
    CDK_VALIDATION: 'false',
  });

async function synth(command, args, environment) {
  const code = await new Promise((resolve, reject) => {
    spawn(command, args, {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...environment },
    })
      .on('error', reject)
      .on('exit', (code) => resolve(code ?? 1));
  });
  if (code !== 0) throw new Error('The app could not be synthesized: see the message above.');
  mkdirSync(at(output), { recursive: true });
  copyFileSync(at('cdk.out.gitignore'), at(output, '.gitignore'));
  return at(output);
}

if (isMain(import.meta)) {
  await synthWithCli(process.argv.slice(2)).catch((error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
}
