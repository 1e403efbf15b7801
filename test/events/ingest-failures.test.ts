import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import type { Faults } from '../../lib/local/index.js';
import { embedded } from '../support/dynamodb.js';
import { kafkaEvent, sqsEvent } from './support/events.js';
import { failed, failing, kafka, sqs } from './support/match-events.js';
import { at, matchShop } from './support/matches.js';

describe.runIf(embedded)('a write that fails', () => {
  test('fails the events that it stood for, and no others', async () => {
    const shop = await matchShop({}, { faults: failing('a') });
    const answer = await shop.ingest(
      sqsEvent(
        sqs('1', 'a', { goals: 1, at: 1 }),
        sqs('2', 'b', { goals: 1, at: 1 }),
        sqs('3', 'a', { goals: 2, at: 2 }),
      ),
    );
    expect(failed(answer)).toEqual(['1', '3']);
    expect(shop.lines).toMatchObject([{ Applied: 1, Failed: 2, level: 'ERROR' }]);
    expect(JSON.stringify(shop.lines)).not.toContain('MATCH#');
  });

  test('in a FIFO queue fails each group from the first of its events on', async () => {
    const shop = await matchShop({}, { faults: failing('a') });
    const answer = await shop.ingest(
      sqsEvent(
        sqs('1', 'b', { goals: 1, at: 1 }, 'g'),
        sqs('2', 'a', { goals: 1, at: 1 }, 'g'),
        sqs('3', 'b', { goals: 2, at: 2 }, 'g'),
        sqs('4', 'c', { goals: 1, at: 1 }, 'h'),
        sqs('5', 'a', { goals: 2, at: 2 }, 'h'),
        sqs('6', 'c', { goals: 1, at: 1 }, 'i'),
      ),
    );
    expect(failed(answer)).toEqual(['2', '3', '5']);
  });

  test('in Kafka is reported at the first of its events', async () => {
    const shop = await matchShop({}, { faults: failing('a') });
    const answer = await shop.ingest(
      kafkaEvent(kafka(4, 'b', { goals: 1, at: 1 }), kafka(5, 'a', { goals: 1, at: 1 }), {
        ...kafka(9, 'a', { goals: 2, at: 2 }),
        partition: 1,
      }),
    );
    expect(failed(answer)).toEqual([
      { partition: 'orders-0', offset: 5 },
      { partition: 'orders-1', offset: 9 },
    ]);
  });

  test('because it was throttled longer than the client tries is sent again', async () => {
    let writes = 0;
    const faults: Faults = ({ operation }) =>
      operation === 'UpdateItem' && ++writes <= 4 ? { at: 'before', error: 'Throttling' } : undefined;
    const shop = await matchShop({}, { faults });
    const answer = await shop.ingest(kafkaEvent(kafka(4, 'a', { goals: 1, at: 1 })));
    expect(failed(answer)).toEqual([]);
    expect(writes).toBe(5);
    expect(shop.lines).toMatchObject([{ Applied: 1, Failed: 0, Writes: 1 }]);
  });

  test('in one group leaves an event of two groups failed', async () => {
    let calls = 0;
    const faults: Faults = ({ operation }) =>
      operation === 'UpdateItem' && calls++ === 1 ? { at: 'before', error: 'TransactionConflict' } : undefined;
    const shop = await matchShop({}, { faults });
    const answer = await shop.ingest(sqsEvent(sqs('1', 'a', { goals: 1, status: 'LIVE', at: 1 })));
    expect(failed(answer)).toEqual(['1']);
    expect(shop.lines).toMatchObject([{ Applied: 0, Failed: 1, Writes: 2 }]);
  });

  test('with a lost response is stored already at its next delivery', async () => {
    let calls = 0;
    const faults: Faults = ({ operation }) =>
      operation === 'UpdateItem' && calls++ === 0 ? { at: 'after', drop: true } : undefined;
    const shop = await matchShop({}, { faults });
    const event = sqsEvent(sqs('1', 'a', { goals: 1, at: 1 }));
    expect(failed(await shop.ingest(event))).toEqual(['1']);
    expect(failed(await shop.ingest(event))).toEqual([]);
    expect(shop.lines).toMatchObject([{ Failed: 1 }, { AlreadyStored: 1 }]);
  });
});

test('a stored item that can not be read fails the events of its key, and is no fault of theirs', async () => {
  const shop = await matchShop();
  await shop.ingest(sqsEvent(sqs('1', 'a', { goals: 5, at: 5 })));
  await shop.client.send(
    new UpdateItemCommand({
      TableName: shop.table.name,
      Key: { pk: { S: 'MATCH#a' }, sk: { S: 'LIVE' } },
      UpdateExpression: 'SET goals = :text',
      ExpressionAttributeValues: { ':text': { S: 'secret' } },
    }),
  );
  const answer = await shop.ingest(
    sqsEvent(
      sqs('2', 'a', { goals: 2, at: 2 }),
      sqs('3', 'a', { goals: 3, at: 3 }),
      sqs('4', 'b', { goals: 1, at: 1 }),
    ),
  );
  expect(failed(answer)).toEqual(['2', '3']);
  expect(shop.aside).toEqual([]);
  expect(shop.lines.at(-1)).toMatchObject({
    Applied: 1,
    Failed: 2,
    Writes: 2,
    errors: [{ name: 'InvalidStoredItemError' }],
  });
  expect(JSON.stringify(shop.lines)).not.toContain('secret');
});

describe('a winner that is refused for its content', () => {
  test('gives way to the next newest, and is poison', async () => {
    const shop = await matchShop();
    const answer = await shop.ingest(
      sqsEvent(
        sqs('1', 'a', { goals: 1, at: 1 }),
        sqs('2', 'a', { goals: 2, at: 2 }),
        sqs('3', 'a', { goals: 0.5, at: 3 }),
        sqs('4', 'a', { goals: 1e300, at: 4 }),
      ),
    );
    expect(failed(answer)).toEqual([]);
    expect(await shop.stored('a')).toMatchObject({ goals: 2, scoreAt: at(2) });
    expect(shop.aside.map(({ reason }) => reason)).toEqual(['content', 'content']);
    expect(shop.lines).toMatchObject([
      { Applied: 1, Superseded: 1, Poison: 2, Writes: 1, poisonReasons: { content: 2 } },
    ]);
  });

  test.runIf(embedded)('by DynamoDB gives way too; where the table is another one, everything fails', async () => {
    // Within the limit by itself, and over it with the rest of the item.
    const large = 'x'.repeat(409_560);
    const shop = await matchShop();
    const event = sqsEvent(sqs('1', 'a', { status: 'LIVE', at: 1 }), sqs('2', 'a', { status: large, at: 2 }));
    expect(failed(await shop.ingest(event))).toEqual([]);
    expect(await shop.stored('a')).toMatchObject({ status: 'LIVE' });
    expect(shop.aside.map(({ reason }) => reason)).toEqual(['content']);
    expect(JSON.stringify(shop.lines)).not.toContain('xxx');
    // What DynamoDB refused was sent, and is paid for.
    expect(shop.lines).toMatchObject([{ Applied: 1, Poison: 1, Writes: 2 }]);

    const misfit = { type: 'ValidationException', message: 'The provided key element does not match the schema' };
    const other = await matchShop({}, { faults: failing('a', misfit) });
    expect(failed(await other.ingest(event))).toEqual(['1', '2']);
  });

  test('gives way without a request where no item can hold it', async () => {
    const shop = await matchShop();
    const event = sqsEvent(
      sqs('1', 'a', { status: 'LIVE', at: 1 }),
      sqs('2', 'a', { status: 'x'.repeat(420_000), at: 2 }),
    );
    expect(failed(await shop.ingest(event))).toEqual([]);
    expect(await shop.stored('a')).toMatchObject({ status: 'LIVE' });
    expect(shop.aside.map(({ reason }) => reason)).toEqual(['content']);
    expect(shop.lines).toMatchObject([{ Applied: 1, Poison: 1, Writes: 1 }]);
  });

  test('failed where the failure destination fails, in a FIFO queue with all after it', async () => {
    const shop = await matchShop({ failureDestination: () => Promise.reject(new Error('no such queue')) });
    const answer = await shop.ingest(
      sqsEvent(
        sqs('1', 'a', { goals: 1, at: 1 }, 'g'),
        sqs('2', 'a', { goals: 0.5, at: 2 }, 'g'),
        sqs('3', 'b', {}, 'g'),
      ),
    );
    expect(failed(answer)).toEqual(['2', '3']);
    expect(await shop.stored('a')).toMatchObject({ goals: 1 });
  });
});

test.runIf(embedded)('a write that is under way when the time is up is reported, whatever becomes of it', async () => {
  const slow: Faults = ({ operation }) => (operation === 'UpdateItem' ? { at: 'after', delayMs: 2000 } : undefined);
  const shop = await matchShop({ deadlineMarginMs: 40 }, { faults: slow });
  const handler = shop.ingest as (event: unknown, context: unknown) => ReturnType<typeof shop.ingest>;
  const answer = await handler(sqsEvent(sqs('1', 'a', { goals: 1, at: 1 })), { getRemainingTimeInMillis: () => 80 });
  expect(failed(answer)).toEqual(['1']);
});
