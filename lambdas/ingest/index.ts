import { table } from '../../lib/commands/index.js';
import { dynamoDBClient } from '../../lib/http/index.js';
import { ingestHandler } from './ingest-handler.js';
import { ingestOptions } from './options.js';

const name = process.env['TABLE_NAME'];
if (name === undefined || name === '') throw new Error('The environment variable TABLE_NAME is not set.');

export const handler = ingestHandler(table({ name, client: dynamoDBClient() }), await ingestOptions(process.env));
