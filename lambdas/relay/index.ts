import { table } from '../../lib/commands/index.js';
import { outboxRelay } from '../../lib/events/index.js';
import { dynamoDBClient } from '../../lib/http/index.js';
import { relayTarget } from './relay-target.js';
import { sweepAfterMs } from './sweep-after.js';

const name = process.env['TABLE_NAME'];
if (name === undefined || name === '') throw new Error('The environment variable TABLE_NAME is not set.');

export const handler = outboxRelay({
  table: table({ name, client: dynamoDBClient() }),
  target: await relayTarget(process.env),
  sweepAfterMs: sweepAfterMs(process.env),
});
