import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { integrationTests } from './test/e2e/ministack/integration-tests.js';

const reports = process.env['TEST_REPORT_DIR'];

export default defineConfig({
  test: {
    reporters: [
      'default',
      ...(reports === undefined ? [] : [['json', { outputFile: join(reports, 'e2e.json') }] as ['json', object]]),
    ],
    projects: [
      {
        test: {
          name: 'app',
          include: ['test/e2e/*.e2e.ts'],
          // One app at a time: each test file starts `npm start`.
          maxWorkers: 1,
          sequence: { groupOrder: 0 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'simulation',
          include: ['test/simulation/*.e2e.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'sources',
          include: ['test/e2e/sources/*.e2e.ts'],
          globalSetup: './test/e2e/sources/server.ts',
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          // For what hangs: a busy machine takes ten times as long as an idle one.
          testTimeout: 600_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'ministack',
          include: integrationTests(),
          globalSetup: './test/e2e/ministack/server.ts',
          setupFiles: './test/e2e/ministack/environment.ts',
          runner: './test/e2e/ministack/runner.ts',
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
          testTimeout: 60_000,
          hookTimeout: 90_000,
        },
      },
      {
        test: {
          name: 'deploy',
          include: ['test/e2e/deploy/*.e2e.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
          testTimeout: 600_000,
          hookTimeout: 90_000,
        },
      },
    ],
  },
});
