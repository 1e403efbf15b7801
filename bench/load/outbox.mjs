import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { outbox } from '../../dist/esm/recipes/index.js';
import { pool } from './pool.mjs';
import { name } from './table.mjs';

/**
 * Fills the outbox with events, spread over aggregates, by the bare client. Gives the records that the table's stream has
 * of them, in the order of the sequence.
 */
export const filledOutbox = async (client, shop, { events, aggregates, prefix, first = 0 }) => {
  const box = outbox(shop, { source: 'bench' });
  const records = [];
  await pool(events, 50, async (i) => {
    const aggregate = `${prefix}:${i % aggregates}`;
    const sequence = first + Math.floor(i / aggregates) + 1;
    const detail = { accountId: aggregate, amount: i, currency: 'EUR', at: '2026-01-01T00:00:00.000Z' };
    const put = box.publish({
      aggregate,
      sequence,
      events: [{ id: `${prefix}-${first}-${i}`, type: 'account.charged', detail }],
    });
    const { Item } = put.toRequest();
    await client.send(new PutItemCommand({ TableName: name, Item }));
    records[i] = {
      eventID: `${prefix}-${first}-${i}`,
      eventName: 'INSERT',
      eventSource: 'aws:dynamodb',
      eventSourceARN: 'arn:aws:dynamodb:eu-west-1:111122223333:table/bench/stream/2026-01-01T00:00:00.000',
      dynamodb: {
        ApproximateCreationDateTime: 1_767_225_600,
        Keys: { pk: Item.pk, sk: Item.sk },
        NewImage: Item,
        SequenceNumber: String(first + i + 1).padStart(21, '1'),
      },
    };
  });
  return records;
};

/** How many items there are whose partition key begins so. */
export const countItems = async (client, prefix) => {
  let [count, ExclusiveStartKey] = [0, undefined];
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: name,
        Select: 'COUNT',
        FilterExpression: 'begins_with(pk, :p)',
        ExpressionAttributeValues: { ':p': { S: prefix } },
        ExclusiveStartKey,
      }),
    );
    count += page.Count;
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey !== undefined);
  return count;
};
