import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLocalEventBridge, createLocalQueues } from '../../../lib/local/index.js';

const entry = { Source: 'shop', DetailType: 'OrderPaid', Detail: '{"id":"o1","total":7}' };

async function setUp(overHttp = false) {
  const bridge = createLocalEventBridge({ buses: ['orders'], clock: () => Date.parse('2026-12-01T00:00:00.500Z') });
  const { region, credentials } = bridge.clientConfig;
  const client = new EventBridgeClient(
    overHttp ? { region, credentials, endpoint: (await bridge.listen()).endpoint } : bridge.clientConfig,
  );
  onTestFinished(async () => {
    client.destroy();
    await bridge.close();
  });
  const put = (...Entries: object[]) => client.send(new PutEventsCommand({ Entries }));
  return { bridge, put };
}

describe('a local bus', () => {
  it.each([false, true])('takes events (over HTTP: %s) and shows what arrived', async (overHttp) => {
    const { bridge, put } = await setUp(overHttp);
    const seen: string[] = [];
    bridge.onEvent(({ bus }) => seen.push(bus));
    const { Entries, FailedEntryCount } = await put(
      { ...entry, EventBusName: 'arn:aws:events:us-east-1:000000000000:event-bus/orders' },
      { ...entry, Time: new Date('2026-11-30T00:00:00Z'), Resources: ['r'] },
    );
    expect(FailedEntryCount).toBe(0);
    expect(bridge.events()).toEqual([
      {
        bus: 'orders',
        event: {
          version: '0',
          id: Entries![0]!.EventId,
          'detail-type': 'OrderPaid',
          source: 'shop',
          account: '000000000000',
          time: '2026-12-01T00:00:00Z',
          region: 'us-east-1',
          resources: [],
          detail: { id: 'o1', total: 7 },
        },
      },
      { bus: 'default', event: expect.objectContaining({ time: '2026-11-30T00:00:00Z', resources: ['r'] }) as unknown },
    ]);
    expect(seen).toEqual(['orders', 'default']);
  });

  it('fails the entries alone that it cannot take', async () => {
    const { bridge, put } = await setUp();
    const { Entries, FailedEntryCount } = await put(entry, { ...entry, Source: '' }, { ...entry, Detail: 'no JSON' });
    expect(FailedEntryCount).toBe(2);
    expect(Entries).toMatchObject([
      { EventId: expect.any(String) as unknown },
      { ErrorCode: 'InvalidArgument' },
      { ErrorCode: 'MalformedDetail' },
    ]);
    expect(bridge.events()).toHaveLength(1);
  });

  it('refuses more than 10 entries, more than 1 MB, and a bus that does not exist', async () => {
    const { bridge, put } = await setUp();
    const refused = { name: 'ValidationException' };
    await expect(put(...Array.from({ length: 11 }, () => entry))).rejects.toMatchObject(refused);
    const Detail = JSON.stringify({ text: 'x'.repeat(600_000) });
    await expect(put({ ...entry, Detail }, { ...entry, Detail })).rejects.toMatchObject(refused);
    await expect(put({ ...entry, EventBusName: 'nobody' })).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
    expect(bridge.events()).toEqual([]);
  });

  it('gives what a rule matches to its target', async () => {
    const { bridge, put } = await setUp();
    const queue = createLocalQueues().create('paid');
    bridge.rule({
      pattern: { source: ['shop'], detail: { total: [{ numeric: ['>', 5] }] } },
      target: (event) => queue.send({ body: JSON.stringify(event) }),
    });
    await put(entry, { ...entry, Detail: '{"total":5}' }, { ...entry, EventBusName: 'orders' });
    expect(queue.messages().map(({ body }) => (JSON.parse(body) as { detail: unknown }).detail)).toEqual([
      { id: 'o1', total: 7 },
    ]);
  });
});
