// `node scripts/count-tests.mjs DIR unit=CODE e2e=CODE` prints `N passed, N failed` over the reports in DIR.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMain } from './project.mjs';

/** Counts the test cases of one of vitest's JSON reports. A file that fails outside its cases counts as one. */
export function countTests(report) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  let files;
  try {
    files = JSON.parse(readFileSync(report, 'utf8')).testResults;
  } catch {
    return counts;
  }
  for (const { status, assertionResults } of files) {
    const of = (...wanted) => assertionResults.filter((test) => wanted.includes(test.status)).length;
    counts.passed += of('passed');
    counts.failed += of('failed') || (status === 'failed' ? 1 : 0);
    counts.skipped += of('skipped', 'pending', 'todo', 'disabled');
  }
  return counts;
}

if (isMain(import.meta)) {
  const [directory, ...runs] = process.argv.slice(2);
  let passed = 0;
  let failed = 0;
  for (const run of runs) {
    const [name, code] = run.split('=');
    const counts = countTests(join(directory, `${name}.json`));
    passed += counts.passed;
    // A run that failed before or beside its tests, by lint or by a crash, is a failure too.
    failed += counts.failed || (code === '0' ? 0 : 1);
  }
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
}
