import { spawn } from 'node:child_process';
import type { SpawnOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

/** Where MiniStack is, or why it is not. */
export type MiniStack = { readonly endpoint: string } | { readonly missing: string };

declare module 'vitest' {
  export interface ProvidedContext {
    ministack: MiniStack;
  }
}

const inRepository = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const REQUIREMENTS = inRepository('scripts/e2e/ministack-requirements.txt');
const ENVIRONMENT = inRepository('node_modules/.cache/safewrites-ministack');
const PYTHON = join(ENVIRONMENT, 'bin', 'python');
const INSTALL_MS = 240_000;
const START_MS = 60_000;

/** Vitest's global setup of this lane: starts MiniStack, and gives what stops it. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const missing = await install();
  if (missing !== undefined) {
    console.warn(`MiniStack: the integration tests are skipped on it, because ${missing}.`);
    project.provide('ministack', { missing });
    return undefined;
  }
  const { endpoint, stop } = await start();
  project.provide('ministack', { endpoint });
  return stop;
}

/** Installs what the requirements say into an environment of its own, once; tells why that cannot be done here. */
async function install(): Promise<string | undefined> {
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
function run(command: string, args: string[]): Promise<boolean> {
  // Not by the option `timeout`, whose timer outlives a command that is not found.
  const options: SpawnOptions = { stdio: 'ignore', signal: AbortSignal.timeout(INSTALL_MS), killSignal: 'SIGKILL' };
  return new Promise((resolve) => {
    spawn(command, args, options)
      .on('error', () => resolve(false))
      .on('close', (code) => resolve(code === 0));
  });
}

async function start(): Promise<{ endpoint: string; stop: () => Promise<void> }> {
  const home = await mkdtemp(join(tmpdir(), 'safewrites-ministack-'));
  const server = spawn(PYTHON, [inRepository('scripts/e2e/serve-ministack.py')], {
    cwd: home,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      TMPDIR: home,
      BIND_HOST: '127.0.0.1',
      IOT_MTLS_ENABLED: '0',
      LAMBDA_EXECUTOR: 'local',
      PERSIST_STATE: '0',
    },
  });
  let output = '';
  const ended = new Promise<void>((resolve) => {
    server.on('error', () => resolve());
    server.on('close', () => resolve());
  });
  const stop = async (): Promise<void> => {
    server.kill('SIGKILL');
    await ended;
    await rm(home, { recursive: true, force: true });
  };
  const listening = new Promise<string>((resolve) => {
    for (const stream of [server.stdout, server.stderr]) {
      stream.on('data', (chunk) => {
        // What it says later is of no interest, but must be taken.
        if (output.length < 100_000) output += String(chunk);
        const [, endpoint] = /Running on (http:\/\/127\.0\.0\.1:\d+)/.exec(output) ?? [];
        if (endpoint !== undefined) resolve(endpoint);
      });
    }
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, START_MS);
  });
  const endpoint = await Promise.race([listening, ended, late]);
  clearTimeout(timer);
  if (typeof endpoint === 'string') return { endpoint, stop };
  await stop();
  throw new Error(`MiniStack did not start:\n${output}`);
}
