import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';

const run = (script: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    env: { ...process.env, PORT: '0' },
    timeout: 15_000,
    killSignal: 'SIGKILL',
  });
  return { status, stdout, stderr };
};

/** What `npm start` needs of the project, to be broken; with its dependencies. */
const copyOfProject = (): string => {
  const checkout = mkdtempSync(join(tmpdir(), 'safewrites-checkout-'));
  for (const name of ['bin', 'cdk.json', 'cdk.out.gitignore', 'lambdas', 'lib', 'package.json', 'scripts']) {
    cpSync(name, join(checkout, name), { recursive: true });
  }
  symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'));
  return checkout;
};

const freePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
};

const accepts = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => done(true)).on('error', () => done(false));
    socket.on('connect', () => socket.destroy());
  });

it('says what to run where the dependencies are not installed', () => {
  const checkout = mkdtempSync(join(tmpdir(), 'safewrites-checkout-'));
  cpSync('scripts', join(checkout, 'scripts'), { recursive: true });
  expect(run(join(checkout, 'scripts/start.mjs'))).toEqual({
    status: 1,
    stdout: '',
    stderr: 'The dependencies are not installed: run `npm ci` first.\n',
  });
});

it('shows how it is used', () => {
  const { status, stdout } = run('scripts/start.mjs', '--help');
  expect(status).toBe(0);
  expect(stdout).toContain('--data-dir');
});

it('refuses an option that it does not know, without a stack trace', () => {
  const { status, stderr } = run('scripts/start.mjs', '--port', '1');
  expect(status).toBe(1);
  expect(stderr).toMatch(/^Unknown option '--port'/);
  expect(stderr).not.toMatch(/^ +at /m);
});

it('says in one sentence that the source of a function is missing', () => {
  const checkout = copyOfProject();
  rmSync(join(checkout, 'lambdas/charge/index.ts'));
  expect(run(join(checkout, 'scripts/start.mjs'))).toEqual({
    status: 1,
    stdout: '',
    stderr: 'lambdas/charge/index.ts is missing: write it, or remove its folder and what refers to it.\n',
  });
});

it.each(['SIGINT', 'SIGTERM'] as const)('ends with 0 and one sentence at %s while it builds', async (signal) => {
  const port = await freePort();
  const child = spawn(process.execPath, [join(copyOfProject(), 'scripts/start.mjs')], {
    // As from a terminal, the signal goes to all that the start has begun.
    detached: true,
    env: { ...process.env, PORT: String(port) },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const ended = new Promise((done) => child.on('close', done));
  // The port is taken before anything is built.
  while (!(await accepts(port))) await wait(20);
  process.kill(-child.pid!, signal);
  expect([await ended, output]).toEqual([0, 'Stopped.\n']);
});
