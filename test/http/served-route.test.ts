import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterEach, expect, it, vi } from 'vitest';
import { table } from '../../lib/commands/index.js';
import { idempotent, refuse } from '../../lib/http/index.js';
import { functionUrlEvent } from './http-event.js';

afterEach(() => vi.unstubAllEnvs());

const shop = table({ name: 'shop', client: new DynamoDBClient({ region: 'eu-west-1' }) });
const handler = () => idempotent({ table: shop, log: () => undefined, handle: () => refuse({ status: 403 }) });

it('is the one that the construct says, where the endpoint says none', async () => {
  vi.stubEnv('SAFEWRITES_ROUTE', 'POST /charges');
  const serve = handler();
  expect((await serve(functionUrlEvent({ path: '/refunds' }))).statusCode).toBe(404);
  expect(await serve(functionUrlEvent({ path: '/charges', method: 'GET' }))).toMatchObject({
    statusCode: 405,
    headers: { allow: 'POST' },
  });
});

it('is refused where the environment says what is none', () => {
  vi.stubEnv('SAFEWRITES_ROUTE', 'charges');
  expect(handler).toThrow('route: expected a method and a path');
});
