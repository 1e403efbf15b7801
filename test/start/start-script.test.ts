import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const run = (script: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
};

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
