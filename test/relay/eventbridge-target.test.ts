import {
  EventBridgeClient,
  PutEventsCommand,
  type PutEventsRequestEntry,
  type PutEventsResultEntry,
} from '@aws-sdk/client-eventbridge';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, describe, expect, test } from 'vitest';
import { InvalidInputError } from '../../lib/commands/index.js';
import { eventBridgeTarget } from '../../lib/events/targets/eventbridge/index.js';
import { fromEventBridge, bodyPath } from '../../lib/messaging/index.js';
import { relayedEvent } from './relayed-event.js';

const client = new EventBridgeClient({ region: 'eu-west-1' });
const mock = mockClient(client);
afterEach(() => mock.reset());

const target = eventBridgeTarget({ client, eventBusName: 'shop' });
/** Answers each entry by its type. */
const answering = (answer: (type: string) => PutEventsResultEntry): PutEventsRequestEntry[][] => {
  const requests: PutEventsRequestEntry[][] = [];
  mock.on(PutEventsCommand).callsFake(({ Entries }: { Entries: PutEventsRequestEntry[] }) => {
    requests.push(Entries);
    return { Entries: Entries.map(({ DetailType = '' }) => answer(DetailType)) };
  });
  return requests;
};

describe('an event', () => {
  test('is a CloudEvent in the detail, beside what rules match by', async () => {
    const requests = answering(() => ({ EventId: 'x' }));
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const event = relayedEvent({ sequence: 7, position: 1, traceparent, detail: '{"total":5}' });
    expect(await target.publish([event])).toEqual([{ ok: true }]);
    const [[entry]] = requests as [[PutEventsRequestEntry]];
    const { Detail = '', ...others } = entry;
    expect(others).toEqual({
      ...{ EventBusName: 'shop', Source: 'shop.orders', DetailType: 'order.paid', Time: event.time },
      TraceHeader: 'Root=1-0af76519-16cd43dd8448eb211c80319c;Parent=b7ad6b7169203331;Sampled=1',
    });
    const detail: unknown = JSON.parse(Detail);
    expect(detail).toEqual({
      ...{ specversion: '1.0', id: 'e1', source: 'shop.orders', type: 'order.paid', subject: 'order:1' },
      ...{ time: '2026-12-01T00:00:00.123Z', sequence: '0000000000000007.00001', traceparent },
      ...{ datacontenttype: 'application/json', data: { total: 5 } },
    });
    // What a consumer recognises it by, however often the relay sends it.
    const source = fromEventBridge({ id: bodyPath('detail', 'id') });
    const received = { id: 'bus-1', 'detail-type': 'order.paid', source: 'shop.orders', detail };
    expect(source.messageOf(received).id).toBe('e1');
  });

  test('has no trace header without trace context', async () => {
    const requests = answering(() => ({ EventId: 'x' }));
    await target.publish([relayedEvent()]);
    expect(requests[0]![0]).not.toHaveProperty('TraceHeader');
    expect(requests[0]![0]!.Detail).not.toContain('traceparent');
  });
});

describe('answers', () => {
  test('are those of the entries: failures that may pass, failures for good, and what was not answered', async () => {
    answering((type) => {
      if (type === 'ok') return { EventId: 'x' };
      return type === 'silent' ? {} : { ErrorCode: type, ErrorMessage: 'holds what was sent' };
    });
    const types = [
      ...['ok', 'InternalFailure', 'ThrottlingException', 'MalformedDetail', 'InvalidArgument'],
      ...['NotAuthorizedForSourceException', 'silent'],
    ];
    const answers = await target.publish(types.map((type) => relayedEvent({ type })));
    expect(answers).toEqual([
      { ok: true },
      { ok: false, retryable: true, reason: 'InternalFailure' },
      { ok: false, retryable: true, reason: 'ThrottlingException' },
      { ok: false, retryable: false, reason: 'MalformedDetail' },
      { ok: false, retryable: false, reason: 'InvalidArgument' },
      { ok: false, retryable: false, reason: 'NotAuthorizedForSourceException' },
      { ok: false, retryable: true, reason: 'NoAnswer' },
    ]);
  });

  test('a failure of the whole request counts against no event', async () => {
    mock.on(PutEventsCommand).rejects(Object.assign(new Error('no'), { name: 'AccessDeniedException' }));
    await expect(target.publish([relayedEvent()])).rejects.toThrow('no');
  });

  test('a request that is refused for its content is sent event by event, to find which', async () => {
    mock.on(PutEventsCommand).callsFake(({ Entries }: { Entries: PutEventsRequestEntry[] }) => {
      if (Entries.some(({ DetailType }) => DetailType === 'bad'))
        throw Object.assign(new Error('no'), { name: 'ValidationException' });
      return { Entries: Entries.map(() => ({ EventId: 'x' })) };
    });
    expect(await target.publish(['good', 'bad', 'fine'].map((type) => relayedEvent({ type })))).toEqual([
      { ok: true },
      { ok: false, retryable: true, reason: 'ValidationException' },
      { ok: true },
    ]);
    expect(await target.publish([relayedEvent({ type: 'bad' })])).toMatchObject([{ ok: false, retryable: true }]);
  });

  test('an event that no request holds is not sent', async () => {
    const requests = answering(() => ({ EventId: 'x' }));
    const large = relayedEvent({ detail: JSON.stringify({ text: 'x'.repeat(1_000_000) }) });
    expect(await target.publish([large, relayedEvent()])).toEqual([
      { ok: false, retryable: false, reason: 'TooLarge' },
      { ok: true },
    ]);
    expect(requests).toHaveLength(1);
    expect(await target.publish([large])).toMatchObject([{ reason: 'TooLarge' }]);
    expect(requests).toHaveLength(1);
  });
});

test.each([
  ['no bus', { eventBusName: '' }],
  ['no time', { timeoutMs: 0 }],
])('%s is refused', (_, options) => {
  expect(() => eventBridgeTarget({ client, eventBusName: 'shop', ...options })).toThrow(InvalidInputError);
});
