import { expect, test } from 'vitest';
import { entity, integer, string } from '../../lib/commands/index.js';
import { batchHandler } from '../../lib/events/index.js';
import { bodyPath, fromKafka, fromSqs, headerId, messageHandler } from '../../lib/messaging/index.js';
import { testTable } from '../http/test-table.js';
import { kafkaEvent, silent, sqsEvent } from './support/events.js';

const Points = entity('POINTS', { pk: 'POINTS#{id}', sk: 'POINTS', attributes: { id: string(), n: integer() } });

test('a message handler runs over lanes: twice delivered is done once, and what is no message is poison', async () => {
  const { table, items } = await testTable();
  const points = table.of(Points);
  const reasons: string[] = [];
  let failing = true;
  const onOrder = messageHandler({
    table,
    consumer: 'points',
    from: fromSqs<{ id: string }>({ id: bodyPath('id') }),
    handle: ({ body }, session) => {
      if (body.id === 'b' && failing) throw new Error('not now');
      session.add(points.update({ id: 'all' }).add(Points.attrs.n, 1));
    },
  });
  const handler = batchHandler({
    ...silent,
    partialResponses: true,
    decode: { sqs: (record) => record },
    handle: async (record, { signal }) => void (await onOrder(record, { signal })),
    failureDestination: ({ reason }) => void reasons.push(reason),
  });
  const of = (id: string, body: unknown, group: string) => ({ id, body, group });
  const event = sqsEvent(
    of('1', { id: 'a' }, 'g'),
    of('2', { id: 'b' }, 'g'),
    of('3', { id: 'c' }, 'g'),
    of('4', '{', 'h'),
    of('5', { other: 1 }, 'h'),
    of('6', { id: 'a' }, 'h'),
  );
  const { batchItemFailures } = await handler(event);
  expect(batchItemFailures).toEqual([{ itemIdentifier: '2' }, { itemIdentifier: '3' }]);
  expect(reasons).toEqual(['body', 'identity']);
  failing = false;
  expect(await handler(event)).toEqual({ batchItemFailures: [] });
  expect((await items('POINTS'))[0]?.['n']).toEqual({ N: '3' });
});

test('a message handler takes the records of Kafka', async () => {
  const { table } = await testTable();
  const seen: unknown[] = [];
  const onOrder = messageHandler({
    table,
    consumer: 'points',
    from: fromKafka<{ id: string } | undefined>({ id: headerId('id') }),
    handle: ({ body }) => void seen.push(body),
  });
  const handler = batchHandler({
    ...silent,
    decode: { kafka: (record) => record },
    handle: async (record, { signal }) => void (await onOrder(record, { signal })),
  });
  await handler(
    kafkaEvent(
      { offset: 1, key: 'k', value: { id: 'a' }, headers: { id: '1' } },
      { offset: 2, key: 'k', headers: { id: '2' } },
    ),
  );
  expect(seen).toEqual([{ id: 'a' }, undefined]);
});
