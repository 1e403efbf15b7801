// `npm test`: format, lint, types, then the tests, with one summary at the end. Arguments go to vitest.
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countTests } from './count-tests.mjs';
import { root } from './project.mjs';

const reports = process.env.TEST_REPORT_DIR ?? mkdtempSync(join(tmpdir(), 'safewrites-test-'));
const report = join(reports, 'unit.json');
const results = [];

/** Runs a step and remembers how it ended; what it printed is shown only where it failed, or where it is `live`. */
async function step(name, command, args, { live = false } = {}) {
  const started = performance.now();
  const output = [];
  const code = await new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', live ? 'inherit' : 'pipe', live ? 'inherit' : 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => output.push(chunk));
    child.on('error', (error) => {
      output.push(Buffer.from(`${error.message}\n`));
      resolve(1);
    });
    child.on('close', (exitCode) => resolve(exitCode ?? 1));
  });
  if (code !== 0 && !live) process.stdout.write(`\n--- ${name} failed\n${Buffer.concat(output)}\n`);
  results.push({ name, failed: code !== 0, seconds: (performance.now() - started) / 1000 });
}

// Two at a time: the linter takes as long as the other two.
await Promise.all([
  step('lint', 'eslint', ['--max-warnings=0', '.']),
  step('format', 'prettier', ['--check', '.']).then(() => step('types', 'tsc', ['--noEmit'])),
]);
await step(
  'tests',
  'vitest',
  ['run', '--reporter=dot', '--reporter=json', `--outputFile.json=${report}`, ...process.argv.slice(2)],
  { live: true },
);

const counts = countTests(report);
process.stdout.write('\n');
for (const { name, failed, seconds } of results) {
  const tests = name === 'tests' ? `  ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped` : '';
  process.stdout.write(`${name.padEnd(8)}${failed ? 'FAILED' : 'ok    '}${seconds.toFixed(1).padStart(7)} s${tests}\n`);
}
process.exitCode = results.some(({ failed }) => failed) ? 1 : 0;
