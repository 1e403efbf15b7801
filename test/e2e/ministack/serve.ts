import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PYTHON } from './install.js';

const SCRIPT = fileURLToPath(new URL('../../../scripts/e2e/serve-ministack.py', import.meta.url));
const START_MS = 60_000;
const LOG_CHARACTERS = 5_000_000;

/** A MiniStack of a test's own. */
export interface Served {
  readonly endpoint: string;
  /** Where it keeps its files; gone when it has stopped. */
  readonly home: string;
  /** What it has said so far, up to 5 MB. */
  readonly log: () => string;
  readonly stop: () => Promise<void>;
}

/** Serves MiniStack on a free port of 127.0.0.1. Functions run on the Node that runs this. */
export async function serve(settings: Readonly<Record<string, string>> = {}): Promise<Served> {
  const home = await mkdtemp(join(tmpdir(), 'safewrites-ministack-'));
  const server = spawn(PYTHON, [SCRIPT], {
    cwd: home,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      HOME: home,
      TMPDIR: home,
      BIND_HOST: '127.0.0.1',
      IOT_MTLS_ENABLED: '0',
      LAMBDA_EXECUTOR: 'local',
      PERSIST_STATE: '0',
      ...settings,
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
        if (output.length < LOG_CHARACTERS) output += String(chunk);
        const [, endpoint] = /Running on (https?:\/\/127\.0\.0\.1:\d+)/.exec(output) ?? [];
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
  if (typeof endpoint === 'string') return { endpoint, home, log: () => output, stop };
  await stop();
  throw new Error(`MiniStack did not start:\n${output}`);
}
