import { randomUUID } from 'node:crypto';
import { afterAll, expect, it, vi } from 'vitest';
import { keepAliveClient } from '../start/keep-alive-client.js';
import { killAll, npmStart } from './npm-start.js';

afterAll(() => killAll());

it.each(['SIGINT', 'SIGTERM'] as const)(
  'answers all calls in progress at %s under load, and ends with 0',
  async (signal) => {
    const app = await npmStart();
    const clients = Array.from({ length: 12 }, (_, client) => {
      const body = JSON.stringify({ customerId: `customer-${client}`, amount: 100, currency: 'EUR' });
      return keepAliveClient(`${app.url}/charges`, () => ({ 'idempotency-key': randomUUID() })).callUntilRefused(body);
    });
    await vi.waitFor(() => expect(app.output().split('POST /charges 201').length).toBeGreaterThan(100), 20_000);
    expect(await app.interrupt(signal)).toBe(0);
    const ends = await Promise.all(clients);
    expect(ends.map(({ refusal }) => refusal)).toEqual(ends.map(() => 'ECONNREFUSED'));
    expect(new Set(ends.flatMap(({ statuses }) => statuses))).toEqual(new Set([201]));
    expect(app.output()).not.toMatch(/crashed| 500 /);
    expect(app.output().trimEnd()).toMatch(/\nStopped\.$/);
  },
);
