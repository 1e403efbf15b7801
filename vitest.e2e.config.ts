import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const reports = process.env['TEST_REPORT_DIR'];

export default defineConfig({
  test: {
    include: ['test/e2e/**/*.e2e.ts'],
    // One app at a time: each test file starts `npm start`.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: [
      'default',
      ...(reports === undefined ? [] : [['json', { outputFile: join(reports, 'e2e.json') }] as ['json', object]]),
    ],
  },
});
