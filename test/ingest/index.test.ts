import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

it('says what is missing where the function has no table', async () => {
  vi.stubEnv('TABLE_NAME', '');
  await expect(import('../../lambdas/ingest/index.js')).rejects.toThrow('TABLE_NAME is not set');
});

it('exports a handler of two parameters, which reports failures as the construct said', async () => {
  vi.stubEnv('TABLE_NAME', 'shop');
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('SAFEWRITES_PARTIAL_RESPONSES', 'true');
  const { handler } = await import('../../lambdas/ingest/index.js');
  expect(handler).toHaveLength(2);
});
