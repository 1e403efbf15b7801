import { createHash } from 'node:crypto';
import { batchHandler, json, sqsMessages } from '../../../lib/events/index.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLocalQueues, manualClock, runUntilIdle, sqsSource } from '../../../lib/local/index.js';
import type { CallReport, LocalQueueOptions, SqsSourceOptions } from '../../../lib/local/index.js';

interface SqsEvent {
  readonly Records: readonly {
    readonly messageId: string;
    readonly body: string;
    readonly attributes: Readonly<Record<string, string>>;
    readonly [name: string]: unknown;
  }[];
}

interface SetUp extends Partial<SqsSourceOptions> {
  readonly fifo?: boolean;
  readonly queueOptions?: LocalQueueOptions;
}

/** A queue, its dead letter queue, and a source that keeps the bodies of each call. */
function setUp(answer: (event: SqsEvent) => unknown, { fifo = false, queueOptions, ...options }: SetUp = {}) {
  const clock = manualClock();
  const queues = createLocalQueues({ clock });
  const suffix = fifo ? '.fifo' : '';
  const dead = queues.create(`dead${suffix}`, { contentBasedDeduplication: true });
  const queue = queues.create(`scores${suffix}`, {
    visibilityTimeoutSeconds: 30,
    redrive: { deadLetterQueue: dead, maxReceiveCount: 3 },
    contentBasedDeduplication: true,
    ...queueOptions,
  });
  const calls: string[][] = [];
  const events: SqsEvent[] = [];
  const source = sqsSource({
    queue,
    clock,
    handler: (event: SqsEvent) => {
      events.push(event);
      calls.push(event.Records.map(({ body }) => body));
      return answer(event);
    },
    ...options,
  });
  const send = (...bodies: string[]) =>
    bodies.forEach((body) => queue.send({ body, ...(fifo ? { groupId: body[0]! } : {}) }));
  const left = () => queue.messages().map(({ body }) => body);
  return { clock, dead, queue, calls, events, source, send, left };
}

/** Names the messages with these bodies as failed. */
const fail =
  (...bodies: string[]) =>
  ({ Records }: SqsEvent) => ({
    batchItemFailures: Records.filter(({ body }) => bodies.includes(body)).map(({ messageId }) => ({
      itemIdentifier: messageId,
    })),
  });
const boom = () => {
  throw new Error('as asked');
};

describe('the mapping of a queue', () => {
  it('calls the handler with Lambda’s event', async () => {
    const { source, queue, events, clock } = setUp(() => undefined, { fifo: true });
    const sent = clock();
    queue.send({
      body: '{"home":1}',
      groupId: 'm1',
      deduplicationId: 'd1',
      attributes: { kind: { DataType: 'String', StringValue: 'goal' } },
    });
    clock.advance(5);
    await source.drain();
    expect(events).toEqual([
      {
        Records: [
          {
            messageId: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
            receiptHandle: expect.any(String) as unknown,
            body: '{"home":1}',
            attributes: {
              ApproximateReceiveCount: '1',
              SentTimestamp: String(sent),
              SenderId: expect.any(String) as unknown,
              ApproximateFirstReceiveTimestamp: String(sent + 5),
              SequenceNumber: expect.stringMatching(/^\d{20}$/) as unknown,
              MessageGroupId: 'm1',
              MessageDeduplicationId: 'd1',
            },
            messageAttributes: {
              kind: { stringValue: 'goal', stringListValues: [], binaryListValues: [], dataType: 'String' },
            },
            md5OfBody: createHash('md5').update('{"home":1}').digest('hex'),
            eventSource: 'aws:sqs',
            eventSourceARN: queue.arn,
            awsRegion: 'us-east-1',
          },
        ],
      },
    ]);
  });

  it('gives at most a batch to a call, and deletes what was done', async () => {
    const { source, send, calls, left } = setUp(() => undefined, { batchSize: 2 });
    send('a', 'b', 'c', 'd', 'e');
    expect(await source.drain()).toBe(3);
    expect(calls).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(left()).toEqual([]);
  });

  it('gathers for the window, unless a batch is full before', async () => {
    const { clock, source, send, calls } = setUp(() => undefined, { batchSize: 3, maximumBatchingWindowInSeconds: 5 });
    send('a');
    await source.drain();
    clock.advance(4999);
    send('b');
    await source.drain();
    expect(calls).toEqual([]);
    expect(source.nextDue()).toBe(clock() + 1);
    clock.advance(1);
    await source.drain();
    expect(calls).toEqual([['a', 'b']]);
    send('c', 'd', 'e');
    await source.drain();
    expect(calls.at(-1)).toEqual(['c', 'd', 'e']);
  });

  it.each([1, 2, 5])('makes at most %i calls at once', async (maximumConcurrency) => {
    let running = 0;
    let most = 0;
    const { source, send } = setUp(
      async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 2));
        running -= 1;
      },
      { batchSize: 1, maximumConcurrency },
    );
    send(...'abcdefghij');
    await source.drain();
    expect(most).toBe(maximumConcurrency);
  });

  it('deletes nothing of a batch whose handler throws, and gives it again after the visibility timeout', async () => {
    let failing = true;
    const { clock, source, send, calls, events, left } = setUp(() => (failing ? boom() : undefined));
    send('a', 'b');
    await source.drain();
    await source.drain();
    expect(calls).toHaveLength(1);
    expect(left()).toEqual(['a', 'b']);
    clock.advance(30_000);
    failing = false;
    await source.drain();
    expect(events.at(-1)!.Records.map(({ attributes }) => attributes['ApproximateReceiveCount'])).toEqual(['2', '2']);
    expect(left()).toEqual([]);
  });

  it('deletes what a partial response does not name', async () => {
    const { source, send, left } = setUp(fail('b'), { reportBatchItemFailures: true });
    send('a', 'b', 'c');
    await source.drain();
    expect(left()).toEqual(['b']);
  });

  it('ignores the response where partial responses are off', async () => {
    const { source, send, left } = setUp(fail('b'));
    send('a', 'b');
    await source.drain();
    expect(left()).toEqual([]);
  });

  it.each([
    ['an empty list', { batchItemFailures: [] }],
    ['a null list', { batchItemFailures: null }],
    ['an empty response', {}],
    ['no response', null],
  ])('takes %s for success', async (_what, response) => {
    const { source, send, left } = setUp(() => response, { reportBatchItemFailures: true });
    send('a', 'b');
    await source.drain();
    expect(left()).toEqual([]);
  });

  it.each([
    ['an unknown id', { batchItemFailures: [{ itemIdentifier: 'nobody' }] }],
    ['an empty id', { batchItemFailures: [{ itemIdentifier: '' }] }],
    ['a null id', { batchItemFailures: [{ itemIdentifier: null }] }],
    ['another name', { batchItemFailures: [{ id: 'x' }] }],
    ['no list', { batchItemFailures: 'x' }],
    ['a text', 'done'],
  ])('takes a response with %s for a failure of the batch', async (_what, response) => {
    const { source, send, left } = setUp(() => response, { reportBatchItemFailures: true });
    send('a', 'b');
    await source.drain();
    expect(left()).toEqual(['a', 'b']);
  });

  it('leaves what fails too often to the redrive, and the rest goes on', async () => {
    const { clock, source, send, dead, left, events } = setUp(fail('b'), { reportBatchItemFailures: true });
    send('a', 'b', 'c');
    await runUntilIdle([source], { clock });
    expect(left()).toEqual([]);
    expect(dead.messages()).toMatchObject([{ body: 'b' }]);
    expect(events.filter(({ Records }) => Records.some(({ body }) => body === 'b'))).toHaveLength(3);
  });

  it('deletes what no filter matches, without a call', async () => {
    const { source, send, calls, left } = setUp(() => undefined, { filters: [{ body: { type: ['goal'] } }] });
    send('{"type":"card"}', '{"type":"goal"}', 'no JSON');
    await source.drain();
    expect(calls).toEqual([['{"type":"goal"}']]);
    expect(left()).toEqual([]);
  });

  it('cuts a batch at 6 MB', async () => {
    const { source, send, calls } = setUp(() => undefined, { batchSize: 10 });
    const large = (name: string) => name + 'x'.repeat(1_000_000);
    send(...[...'abcdefghi'].map(large));
    await source.drain();
    expect(calls.map((call) => call.map((body) => body[0]))).toEqual([[...'abcdef'], [...'ghi']]);
  });

  it('tells of each call', async () => {
    const reports: CallReport[] = [];
    const { source, send } = setUp(fail('b'), {
      reportBatchItemFailures: true,
      onCall: (report) => reports.push(report),
    });
    send('a', 'b');
    await source.drain();
    expect(reports).toMatchObject([{ records: 2, failed: 1, invocation: { response: { batchItemFailures: [{}] } } }]);
  });

  it('polls by itself between start and stop, and finishes the calls in progress', async () => {
    const { promise: called, resolve: tell } = Promise.withResolvers<undefined>();
    const { promise: goOn, resolve: finish } = Promise.withResolvers<undefined>();
    const { source, send, left } = setUp(async () => {
      tell(undefined);
      await goOn;
    });
    source.start();
    send('a');
    await called;
    const stopped = source.stop();
    send('b');
    finish(undefined);
    await stopped;
    expect(left()).toEqual(['b']);
  });

  it.each([
    ['batchSize', { batchSize: 0 }],
    ['batchSize', { batchSize: 11, fifo: true }],
    ['maximumBatchingWindowInSeconds', { maximumBatchingWindowInSeconds: 1, fifo: true }],
    ['maximumConcurrency', { maximumConcurrency: 0 }],
  ])('refuses a %s that Lambda refuses', (name, options) => {
    expect(() => setUp(() => undefined, options)).toThrow(new RegExp(`^${name} must be`));
  });

  it('refuses a filter that it does not understand', () => {
    expect(() => setUp(() => undefined, { filters: [{ body: [{ like: 'a' }] }] })).toThrow('no operator like');
  });

  it('does not share the event with the handler', async () => {
    const { source, send, left } = setUp((event) => (event.Records as unknown[]).splice(0), {});
    send('a');
    await source.drain();
    expect(left()).toEqual([]);
  });
});

describe('the mapping of a FIFO queue', () => {
  it('gives several messages of a group in one batch, in order, beside those of others', async () => {
    const { source, send, calls } = setUp(() => undefined, { fifo: true });
    send('a1', 'b1', 'a2', 'b2', 'a3');
    await source.drain();
    expect(calls).toEqual([['a1', 'a2', 'a3', 'b1', 'b2']]);
  });

  it('lets a group wait while its failed messages retry, and others go on', async () => {
    let failing = true;
    const { clock, source, send, calls } = setUp((event) => (failing ? fail('a2', 'a3')(event) : undefined), {
      fifo: true,
      reportBatchItemFailures: true,
    });
    send('a1', 'a2', 'a3', 'b1');
    await source.drain();
    send('a4', 'b2');
    await source.drain();
    expect(calls).toEqual([['a1', 'a2', 'a3', 'b1'], ['b2']]);
    failing = false;
    clock.advance(30_000);
    await source.drain();
    expect(calls.at(-1)).toEqual(['a2', 'a3', 'a4']);
  });

  it('never runs two calls with one group', async () => {
    const running = new Set<string>();
    const { source, send } = setUp(
      async ({ Records }) => {
        const groups = new Set(Records.map(({ attributes }) => attributes['MessageGroupId']!));
        for (const group of groups) {
          expect(running).not.toContain(group);
          running.add(group);
        }
        await new Promise((resolve) => setTimeout(resolve, 1));
        for (const group of groups) running.delete(group);
      },
      { fifo: true, batchSize: 2 },
    );
    send(...Array.from({ length: 30 }, (_, n) => `${'abc'[n % 3]}${n}`));
    await source.drain();
  });

  it('sends a message that fails for ever to the dead letter queue, and the group goes on', async () => {
    const { clock, source, send, dead, left } = setUp(
      batchHandler({
        decode: { sqs: sqsMessages(json<string>()) },
        handle: ({ body }) => (body === 'a2' ? Promise.reject(new Error('as asked')) : undefined),
        partialResponses: true,
        log: () => undefined,
      }),
      { fifo: true, reportBatchItemFailures: true, queueOptions: {} },
    );
    for (const body of ['"a1"', '"a2"', '"a3"', '"b1"']) send(body);
    await runUntilIdle([source], { clock });
    expect(left()).toEqual([]);
    expect(dead.messages().map(({ body }) => body)).toContain('"a2"');
  });
});

/** What a call does with each of its messages. */
const behaviour = fc.record({
  bodies: fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(99)), { maxLength: 25 }),
  /** For each call in turn: throws, answers nonsense, or fails the messages of these places and, in a FIFO queue, their followers. */
  calls: fc.array(fc.oneof(fc.constant('throw'), fc.constant('nonsense'), fc.array(fc.nat(9), { maxLength: 3 })), {
    maxLength: 20,
  }),
  batchSize: fc.integer({ min: 1, max: 10 }),
  fifo: fc.boolean(),
});

describe('whatever the handler does', () => {
  it('every message was done, or is in the dead letter queue; a group keeps its order', async () => {
    await fc.assert(
      fc.asyncProperty(behaviour, async ({ bodies, calls: script, batchSize, fifo }) => {
        const done: string[] = [];
        let call = 0;
        const { clock, source, queue, dead, left } = setUp(
          ({ Records }) => {
            const step = script[call++] ?? [];
            if (step === 'throw') boom();
            if (step === 'nonsense') return { batchItemFailures: [{ itemIdentifier: 'nobody' }] };
            const failedGroups = new Set<string>();
            const failed = Records.filter(({ body, attributes }, place) => {
              const group = attributes['MessageGroupId'] ?? '';
              if ((step as number[]).includes(place) || (fifo && failedGroups.has(group))) {
                failedGroups.add(group);
                return true;
              }
              done.push(body);
              return false;
            });
            return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
          },
          { fifo, batchSize, reportBatchItemFailures: true },
        );
        const sent = bodies.map(([group, n], index) => `${group}${index}-${n}`);
        for (const body of sent) queue.send({ body, ...(fifo ? { groupId: body[0]! } : {}) });
        await runUntilIdle([source], { clock });
        expect(left()).toEqual([]);
        const buried = dead.messages().map(({ body }) => body);
        // Done or buried, each once: nothing that failed was deleted, and what was done did not come again.
        expect([...done, ...buried].sort()).toEqual([...sent].sort());
        if (fifo) {
          for (const group of 'abc') {
            const inOrder = sent.filter((body) => body.startsWith(group) && done.includes(body));
            expect(done.filter((body) => body.startsWith(group))).toEqual(inOrder);
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
