import {
  CreateTableCommand,
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLocalDynamoDB, manualClock, runUntilIdle, streamSource } from '../../../lib/local/index.js';
import type { StreamSourceOptions, StreamFailureRecord } from '../../../lib/local/index.js';

interface StreamEvent {
  readonly Records: readonly {
    readonly eventName: string;
    readonly dynamodb: {
      readonly SequenceNumber: string;
      readonly Keys: { readonly pk: { readonly S: string } };
      readonly NewImage?: { readonly n?: { readonly N: string } };
    };
    readonly [name: string]: unknown;
  }[];
}

/** A table with a stream of one shard, and a source that keeps the numbers of each call. */
async function setUp(
  answer: (event: StreamEvent) => unknown,
  { shards = 1, ...options }: Partial<StreamSourceOptions> & { shards?: number } = {},
) {
  const clock = manualClock();
  const dynamodb = await createLocalDynamoDB({ clock, streamShards: shards });
  const client = new DynamoDBClient({ ...dynamodb.clientConfig });
  onTestFinished(async () => {
    client.destroy();
    await dynamodb.close();
  });
  await client.send(
    new CreateTableCommand({
      TableName: 'shop',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    }),
  );
  const put = async (...numbers: number[]) => {
    for (const n of numbers) {
      await client.send(
        new PutItemCommand({ TableName: 'shop', Item: { pk: { S: `item${n % 10}` }, n: { N: `${n}` } } }),
      );
    }
  };
  const calls: number[][] = [];
  const events: StreamEvent[] = [];
  const failures: StreamFailureRecord[] = [];
  const source = () =>
    streamSource({
      dynamodb,
      tableName: 'shop',
      clock,
      handler: (event: StreamEvent) => {
        events.push(event);
        calls.push(event.Records.map(numberOf));
        return answer(event);
      },
      onFailure: (record) => void failures.push(record),
      ...options,
    });
  return { clock, dynamodb, client, put, calls, events, failures, source };
}

const numberOf = ({ dynamodb }: StreamEvent['Records'][number]) => Number(dynamodb.NewImage?.n?.N);
const report = (...numbers: (string | undefined)[]) => ({
  batchItemFailures: numbers.map((itemIdentifier) => ({ itemIdentifier })),
});
/** Reports the records of these numbers. */
const fail =
  (...numbers: number[]) =>
  ({ Records }: StreamEvent) =>
    report(
      ...Records.filter((record) => numbers.includes(numberOf(record))).map(({ dynamodb }) => dynamodb.SequenceNumber),
    );
/** Throws while a batch holds one of these numbers. */
const choke =
  (...numbers: number[]) =>
  ({ Records }: StreamEvent) => {
    if (Records.some((record) => numbers.includes(numberOf(record)))) throw new Error('as asked');
  };
const boom = () => {
  throw new Error('as asked');
};

describe('the mapping of a stream', () => {
  it('calls the handler with Lambda’s event', async () => {
    const { put, events, source, clock } = await setUp(() => undefined);
    await put(1);
    await (await source()).drain();
    expect(events).toEqual([
      {
        Records: [
          {
            eventID: expect.any(String) as unknown,
            eventName: 'INSERT',
            eventVersion: '1.1',
            eventSource: 'aws:dynamodb',
            awsRegion: 'us-east-1',
            dynamodb: {
              ApproximateCreationDateTime: Math.floor(clock() / 1000),
              Keys: { pk: { S: 'item1' } },
              NewImage: { pk: { S: 'item1' }, n: { N: '1' } },
              SequenceNumber: expect.stringMatching(/^\d+$/) as unknown,
              SizeBytes: expect.any(Number) as unknown,
              StreamViewType: 'NEW_AND_OLD_IMAGES',
            },
            eventSourceARN: expect.stringMatching(/table\/shop\/stream\//) as unknown,
          },
        ],
      },
    ]);
  });

  it('names the service as Lambda spells it where time to live removed an item', async () => {
    const { clock, client, dynamodb, events, source } = await setUp(() => undefined, {
      filters: [{ userIdentity: { type: ['Service'], principalId: ['dynamodb.amazonaws.com'] } }],
    });
    await client.send(
      new UpdateTimeToLiveCommand({
        TableName: 'shop',
        TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      }),
    );
    const expiresAt = { N: String(Math.floor(clock() / 1000) + 60) };
    await client.send(new PutItemCommand({ TableName: 'shop', Item: { pk: { S: 'a' }, expiresAt } }));
    await client.send(new PutItemCommand({ TableName: 'shop', Item: { pk: { S: 'b' } } }));
    await client.send(new DeleteItemCommand({ TableName: 'shop', Key: { pk: { S: 'b' } } }));
    clock.advance(61_000);
    await dynamodb.sweep();
    await (await source()).drain();
    expect(events.flatMap(({ Records }) => Records)).toMatchObject([
      { eventName: 'REMOVE', userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' } },
    ]);
  });

  it('gives at most a batch to a call, in order', async () => {
    const { put, calls, source } = await setUp(() => undefined, { batchSize: 2 });
    await put(1, 2, 3, 4, 5);
    expect(await (await source()).drain()).toBe(3);
    expect(calls).toEqual([[1, 2], [3, 4], [5]]);
  });

  it('gathers for the window, unless a batch is full before', async () => {
    const { clock, put, calls, source } = await setUp(() => undefined, {
      batchSize: 3,
      maximumBatchingWindowInSeconds: 5,
    });
    const running = await source();
    await put(1);
    await running.drain();
    clock.advance(4999);
    await put(2);
    await running.drain();
    expect(calls).toEqual([]);
    clock.advance(1);
    await running.drain();
    expect(calls).toEqual([[1, 2]]);
    await put(3, 4, 5);
    await running.drain();
    expect(calls.at(-1)).toEqual([3, 4, 5]);
  });

  it.each([
    ['TRIM_HORIZON', [1, 2, 3]],
    ['LATEST', [2, 3]],
  ] as const)('starts at %s', async (startingPosition, expected) => {
    const { clock, put, calls, source } = await setUp(() => undefined, { startingPosition });
    await put(1);
    const running = await source();
    await put(2);
    // Longer than an iterator lives.
    clock.advance(16 * 60 * 1000);
    await put(3);
    await running.drain();
    expect(calls.flat()).toEqual([...expected]);
  });

  it('skips what no filter matches, without a call', async () => {
    const { client, put, calls, source } = await setUp(() => undefined, {
      filters: [{ eventName: ['INSERT'], dynamodb: { NewImage: { n: { N: ['2', '3'] } } } }, { eventName: ['REMOVE'] }],
    });
    await put(1, 2, 12, 3);
    await client.send(new DeleteItemCommand({ TableName: 'shop', Key: { pk: { S: 'item1' } } }));
    await (await source()).drain();
    expect(calls).toEqual([[2, 3, Number.NaN]]);
  });

  it('retries a failed batch before it goes on, at growing pauses', async () => {
    let failing = 3;
    const { clock, put, calls, source } = await setUp(() => (failing-- > 0 ? boom() : undefined), { batchSize: 2 });
    await put(1, 2, 3);
    const running = await source();
    await running.drain();
    expect(calls).toEqual([[1, 2]]);
    for (const pause of [1000, 2000, 4000]) {
      expect(running.nextDue()).toBe(clock() + pause);
      clock.advance(pause);
      await running.drain();
    }
    expect(calls).toEqual([[1, 2], [1, 2], [1, 2], [1, 2], [3]]);
  });

  it('gives a batch up after its retries, tells where it was, and goes on', async () => {
    const { clock, put, calls, events, failures, source } = await setUp(choke(1, 2), {
      batchSize: 2,
      maximumRetryAttempts: 2,
    });
    await put(1, 2, 3);
    const at = Math.floor(clock() / 1000) * 1000;
    const running = await source();
    await runUntilIdle([running], { clock });
    expect(calls).toEqual([[1, 2], [1, 2], [1, 2], [3]]);
    const [first, second] = events[0]!.Records;
    expect(failures).toEqual([
      {
        requestContext: {
          requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
          functionArn: expect.stringContaining(':function:local') as unknown,
          condition: 'RetryAttemptsExhausted',
          approximateInvokeCount: 3,
        },
        responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
        version: '1.0',
        timestamp: new Date(clock()).toISOString(),
        DDBStreamBatchInfo: {
          shardId: expect.stringMatching(/^shardId-/) as unknown,
          startSequenceNumber: first!.dynamodb.SequenceNumber,
          endSequenceNumber: second!.dynamodb.SequenceNumber,
          approximateArrivalOfFirstRecord: new Date(at).toISOString(),
          approximateArrivalOfLastRecord: new Date(at).toISOString(),
          batchSize: 2,
          streamArn: first!['eventSourceARN'],
        },
      },
    ]);
  });

  it('goes on from the lowest number that is reported, and keeps everything before it', async () => {
    let failing = true;
    const { clock, put, calls, source } = await setUp(
      (event) => {
        if (!failing) return undefined;
        failing = false;
        return fail(4, 2)(event);
      },
      { reportBatchItemFailures: true },
    );
    await put(1, 2, 3, 4, 5);
    await runUntilIdle([await source()], { clock });
    expect(calls).toEqual([
      [1, 2, 3, 4, 5],
      [2, 3, 4, 5],
    ]);
  });

  it('says of reported failures that are given up that nothing was thrown', async () => {
    const { clock, put, failures, source } = await setUp(fail(2), {
      reportBatchItemFailures: true,
      maximumRetryAttempts: 1,
    });
    await put(1, 2, 3);
    await runUntilIdle([await source()], { clock });
    expect(failures).toMatchObject([{ responseContext: { statusCode: 200 }, DDBStreamBatchInfo: { batchSize: 2 } }]);
    expect(failures[0]!.responseContext).not.toHaveProperty('functionError');
  });

  it.each([
    ['an unknown number', report('1')],
    ['an empty number', report('')],
    ['no number', report(undefined)],
    ['another name', { batchItemFailures: [{ id: 'x' }] }],
    ['a text', 'done'],
  ])('takes a response with %s for a failure of the batch', async (_what, response) => {
    let first = true;
    const { clock, put, calls, source } = await setUp(
      () => {
        const answer = first ? response : undefined;
        first = false;
        return answer;
      },
      { reportBatchItemFailures: true },
    );
    await put(1, 2);
    await runUntilIdle([await source()], { clock });
    expect(calls).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  it.each([
    ['an empty list', { batchItemFailures: [] }],
    ['a null list', { batchItemFailures: null }],
    ['nothing', undefined],
  ])('takes a response with %s for success', async (_what, response) => {
    const { clock, put, calls, source } = await setUp(() => response, { reportBatchItemFailures: true });
    await put(1, 2);
    await runUntilIdle([await source()], { clock });
    expect(calls).toEqual([[1, 2]]);
  });

  it('ignores the response where partial responses are off', async () => {
    const { clock, put, calls, source } = await setUp(fail(1));
    await put(1, 2);
    await runUntilIdle([await source()], { clock });
    expect(calls).toEqual([[1, 2]]);
  });

  it('halves a failed batch until the poison record stands alone, which takes no retry', async () => {
    const { clock, put, calls, failures, source } = await setUp(choke(3), {
      bisectBatchOnFunctionError: true,
      maximumRetryAttempts: 0,
    });
    await put(1, 2, 3, 4, 5);
    const running = await source();
    await running.drain();
    expect(calls).toEqual([[1, 2, 3, 4, 5], [1, 2, 3], [1, 2], [3], [4, 5]]);
    expect(failures).toMatchObject([{ DDBStreamBatchInfo: { batchSize: 1 } }]);
    expect(await runUntilIdle([running], { clock })).toBe(0);
  });

  it('with reports and bisecting, splits at the number that is reported', async () => {
    const { clock, put, calls, failures, source } = await setUp(fail(4), {
      bisectBatchOnFunctionError: true,
      reportBatchItemFailures: true,
      maximumRetryAttempts: 0,
    });
    await put(1, 2, 3, 4, 5);
    await runUntilIdle([await source()], { clock });
    expect(calls).toEqual([[1, 2, 3, 4, 5], [4, 5], [4], [5]]);
    expect(failures).toMatchObject([{ DDBStreamBatchInfo: { batchSize: 1 } }]);
  });

  it('gives up records that are too old, without a call', async () => {
    const { clock, put, calls, failures, source } = await setUp(() => undefined, { maximumRecordAgeInSeconds: 60 });
    await put(1, 2);
    clock.advance(62_000);
    await put(3);
    await (await source()).drain();
    expect(calls).toEqual([[3]]);
    expect(failures).toMatchObject([
      {
        requestContext: { condition: 'RecordAgeExceeded', approximateInvokeCount: 0 },
        DDBStreamBatchInfo: { batchSize: 2 },
      },
    ]);
  });

  it('gives up a batch that fails until its records are too old', async () => {
    const { clock, put, failures, source } = await setUp(choke(1), { maximumRecordAgeInSeconds: 60 });
    await put(1);
    await runUntilIdle([await source()], { clock });
    expect(failures).toMatchObject([
      {
        requestContext: { condition: 'RecordAgeExceeded', approximateInvokeCount: 6 },
        responseContext: { functionError: 'Unhandled' },
      },
    ]);
  });

  it('retries without limits until the stream’s own end of a day', async () => {
    const { clock, put, failures, source } = await setUp(boom);
    await put(1);
    const start = clock();
    await runUntilIdle([await source()], { clock });
    expect(failures).toHaveLength(1);
    expect(clock() - start).toBeGreaterThan(24 * 60 * 60 * 1000 - 1000);
  });

  it('holds the shard until the destination has taken what is given up', async () => {
    let refusals = 1;
    const taken: unknown[] = [];
    const { clock, put, calls, source } = await setUp(choke(1), {
      batchSize: 1,
      maximumRetryAttempts: 0,
      onFailure: (record) => {
        if (refusals-- > 0) throw new Error('not now');
        taken.push(record);
      },
    });
    await put(1, 2);
    const running = await source();
    await expect(running.drain()).rejects.toThrow('not now');
    expect(calls).toEqual([[1]]);
    clock.advance(1000);
    await running.drain();
    expect(taken).toHaveLength(1);
    expect(calls).toEqual([[1], [1], [2]]);
  });

  it('runs as many calls at once as parts of a shard, and keeps each item’s order', async () => {
    let running = 0;
    let most = 0;
    const seen = new Map<string, number[]>();
    const { put, source } = await setUp(
      async ({ Records }) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setTimeout(resolve, 2));
        for (const record of Records) {
          const key = record.dynamodb.Keys.pk.S;
          seen.set(key, [...(seen.get(key) ?? []), numberOf(record)]);
        }
        running -= 1;
      },
      { parallelizationFactor: 4, batchSize: 2 },
    );
    await put(...Array.from({ length: 60 }, (_, n) => n));
    await (await source()).drain();
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(4);
    for (const [key, numbers] of seen) {
      expect(numbers).toEqual(Array.from({ length: 6 }, (_, n) => n * 10 + Number(key.slice(4))));
    }
  });

  it('reads shards side by side: one that fails holds up no other', async () => {
    const { put, calls, source } = await setUp(choke(1), { shards: 4 });
    await put(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    await (await source()).drain();
    const done = calls.filter((call) => !call.includes(1)).flat();
    expect(done.length).toBeGreaterThan(0);
  });

  it('handles a shard’s children after it', async () => {
    let failing = true;
    const { clock, dynamodb, put, calls, source } = await setUp(() => (failing ? boom() : undefined));
    await put(1);
    const running = await source();
    await running.drain();
    await dynamodb.splitShards('shop');
    await put(11);
    clock.advance(1000);
    await running.drain();
    expect(calls.flat()).not.toContain(11);
    failing = false;
    await runUntilIdle([running], { clock });
    expect(calls.flat().filter((n) => n === 11)).toEqual([11]);
    expect(calls.at(-1)).toEqual([11]);
  });

  it('polls by itself between start and stop', async () => {
    const { promise, resolve } = Promise.withResolvers<StreamEvent>();
    const { put, source } = await setUp(resolve);
    const running = await source();
    running.start();
    await put(7);
    expect(numberOf((await promise).Records[0]!)).toBe(7);
    await running.stop();
  });

  it('refuses a table without stream, and settings that Lambda refuses', async () => {
    const { client, dynamodb, source } = await setUp(() => undefined, { maximumRetryAttempts: -2 });
    await expect(source()).rejects.toThrow('maximumRetryAttempts must be');
    await client.send(
      new CreateTableCommand({
        TableName: 'plain',
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      }),
    );
    await expect(streamSource({ dynamodb, tableName: 'plain', handler: () => undefined })).rejects.toThrow('no stream');
  });
});

const scenario = fc.record({
  numbers: fc.array(fc.nat(99), { minLength: 1, maxLength: 25 }),
  /** For each call in turn: throws, answers nonsense, or reports the records of these places. */
  script: fc.array(fc.oneof(fc.constant('throw'), fc.constant('nonsense'), fc.array(fc.nat(9), { maxLength: 3 })), {
    maxLength: 20,
  }),
  /** Writes that never succeed. */
  poison: fc.array(fc.nat(24), { maxLength: 2 }),
  batchSize: fc.integer({ min: 1, max: 10 }),
  bisectBatchOnFunctionError: fc.boolean(),
  maximumRetryAttempts: fc.integer({ min: 0, max: 3 }),
  parallelizationFactor: fc.integer({ min: 1, max: 3 }),
  shards: fc.integer({ min: 1, max: 3 }),
});

describe('whatever the handler does', () => {
  it('every record was done or is told of, an item’s first time in order, and bisecting gives up no more than fails', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ numbers, script, poison, ...options }) => {
        let call = 0;
        const done: { item: string; place: number }[] = [];
        const sent = numbers.map((_, place) => place);
        const isPoison = (place: number) => poison.includes(place);
        const scripted = new Set<number>();
        const { clock, client, events, failures, source } = await setUp(
          ({ Records }) => {
            const step = script[call++] ?? [];
            const places = Records.map(numberOf);
            if (step === 'throw' || step === 'nonsense') {
              places.forEach((place) => scripted.add(place));
              if (step === 'throw') boom();
              return report('0');
            }
            const failed = Records.filter((_, index) => step.includes(index) || isPoison(places[index]!));
            for (const record of failed) if (!isPoison(numberOf(record))) scripted.add(numberOf(record));
            // In order, up to the first that fails.
            for (const record of Records.slice(0, failed.length === 0 ? Infinity : Records.indexOf(failed[0]!))) {
              done.push({ item: record.dynamodb.Keys.pk.S, place: numberOf(record) });
            }
            return report(...failed.map(({ dynamodb }) => dynamodb.SequenceNumber));
          },
          { ...options, reportBatchItemFailures: true },
        );
        for (const [place, n] of numbers.entries()) {
          const Item = { pk: { S: `item${n % 5}` }, n: { N: `${place}` } };
          await client.send(new PutItemCommand({ TableName: 'shop', Item }));
        }
        await runUntilIdle([await source()], { clock });
        const number = new Map(
          events.flatMap(({ Records }) => Records.map((record) => [numberOf(record), record.dynamodb.SequenceNumber])),
        );
        const told = sent.filter((place) =>
          failures.some(({ DDBStreamBatchInfo: { startSequenceNumber: from, endSequenceNumber: to } }) => {
            const own = BigInt(number.get(place)!);
            return BigInt(from) <= own && own <= BigInt(to);
          }),
        );
        expect(sent.filter((place) => !told.includes(place) && !done.some((one) => one.place === place))).toEqual([]);
        for (const place of sent) if (isPoison(place)) expect(done.map((one) => one.place)).not.toContain(place);
        for (const item of new Set(done.map((one) => one.item))) {
          const places = [...new Set(done.filter((one) => one.item === item).map((one) => one.place))];
          expect(places).toEqual([...places].sort((a, b) => a - b));
        }
        // With one lane and no scripted failures, what is given up is the poison alone.
        if (options.bisectBatchOnFunctionError && scripted.size === 0) {
          const lost = sent.filter((place) => !done.some((one) => one.place === place));
          expect(lost.filter((place) => !isPoison(place))).toEqual([]);
          expect(failures.every(({ DDBStreamBatchInfo }) => DDBStreamBatchInfo.batchSize === 1)).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  }, 60_000);
});
