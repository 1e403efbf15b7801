import { spawn } from 'node:child_process';
import type { SpawnOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const inRepository = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const REQUIREMENTS = inRepository('scripts/e2e/ministack-requirements.txt');
const ENVIRONMENT = inRepository('node_modules/.cache/safewrites-ministack');
const INSTALL_MS = 240_000;

/** The Python that MiniStack is installed for. */
export const PYTHON = join(ENVIRONMENT, 'bin', 'python');

/** Installs what the requirements say into an environment of its own, once; tells why that cannot be done here. */
export async function install(): Promise<string | undefined> {
  const wanted = await readFile(REQUIREMENTS, 'utf8');
  const marker = join(ENVIRONMENT, 'installed');
  if (existsSync(marker) && (await readFile(marker, 'utf8')) === wanted) return undefined;
  if (!(await run('python3', ['--version']))) return 'there is no python3';
  if (!(await run('python3', ['-m', 'venv', '--clear', ENVIRONMENT]))) return 'python3 cannot make a venv';
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--requirement', REQUIREMENTS];
  if (!(await run(PYTHON, pip))) return 'pip cannot install it from PyPI';
  await writeFile(marker, wanted);
  return undefined;
}

/** Whether a command ends well and in time. */
export function run(command: string, args: string[]): Promise<boolean> {
  // Not by the option `timeout`, whose timer outlives a command that is not found.
  const options: SpawnOptions = { stdio: 'ignore', signal: AbortSignal.timeout(INSTALL_MS), killSignal: 'SIGKILL' };
  return new Promise((resolve) => {
    spawn(command, args, options)
      .on('error', () => resolve(false))
      .on('close', (code) => resolve(code === 0));
  });
}
