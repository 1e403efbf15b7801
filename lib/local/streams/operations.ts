import { serviceError, validationError } from '../engine/api-error.js';
import type { FieldType, FieldTypes } from '../engine/dynalite.js';
import type { Engine } from '../engine/engine.js';
import type { Body } from '../engine/types.js';
import type { Operation } from '../operations/operation.js';
import { decodeIterator, encodeIterator } from './iterators.js';
import { recordSpace } from './model.js';
import type { Shard, StoredRecord, StoredStream, StreamRecord } from './model.js';
import { streamRecord } from './records.js';

const MAX_RECORDS = 1000;
const MAX_BYTES = 1024 * 1024;
const ARN: FieldType = { type: 'String', lengthGreaterThanOrEqual: 37, lengthLessThanOrEqual: 1024 };
const SHARD_ID: FieldType = { type: 'String', lengthGreaterThanOrEqual: 28, lengthLessThanOrEqual: 65 };
const required = (type: FieldType): FieldType => ({ ...type, notNull: true });
const limit = (most: number): FieldType => ({ type: 'Integer', greaterThanOrEqual: 1, lessThanOrEqual: most });

const TYPES = {
  ListStreams: {
    TableName: { type: 'String', lengthGreaterThanOrEqual: 3, lengthLessThanOrEqual: 255, regex: '[a-zA-Z0-9_.-]+' },
    Limit: limit(100),
    ExclusiveStartStreamArn: ARN,
  },
  DescribeStream: { StreamArn: required(ARN), Limit: limit(100), ExclusiveStartShardId: SHARD_ID },
  GetShardIterator: {
    StreamArn: required(ARN),
    ShardId: required(SHARD_ID),
    ShardIteratorType: {
      type: 'String',
      notNull: true,
      enum: ['TRIM_HORIZON', 'LATEST', 'AT_SEQUENCE_NUMBER', 'AFTER_SEQUENCE_NUMBER'],
    },
    SequenceNumber: { type: 'String', lengthGreaterThanOrEqual: 21, lengthLessThanOrEqual: 40 },
  },
  GetRecords: { ShardIterator: { type: 'String', notNull: true }, Limit: limit(MAX_RECORDS) },
} satisfies Record<string, FieldTypes>;

/** Readers see what retention leaves, also when nothing is written meanwhile. */
function check<T>(engine: Engine, name: keyof typeof TYPES, request: Body): T {
  const data = engine.check(request, TYPES[name]) as T;
  engine.store.apply(engine.streams.trim());
  return data;
}

function findStream(engine: Engine, arn: string): StoredStream {
  const stream = engine.streams.find(arn);
  if (!stream) {
    throw serviceError('ResourceNotFoundException', `Requested resource not found: Stream: ${arn} not found`);
  }
  return stream;
}

function findShard(stream: StoredStream, id: string): Shard {
  const shard = stream.shards.find((candidate) => candidate.id === id);
  if (!shard) {
    throw serviceError(
      'ResourceNotFoundException',
      `Requested resource not found: Shard: ${id} in Stream: ${stream.arn} not found`,
    );
  }
  return shard;
}

const trimmed = (): Error =>
  serviceError(
    'TrimmedDataAccessException',
    'The operation attempted to read past the oldest stream record in a shard.',
  );

export const listStreams: Operation = (engine, request) => {
  const data = check<{ TableName?: string; Limit?: number; ExclusiveStartStreamArn?: string }>(
    engine,
    'ListStreams',
    request,
  );
  const from = data.ExclusiveStartStreamArn;
  const streams = engine.streams
    .all()
    .filter(({ table, arn }) => (data.TableName ?? table) === table && (from === undefined || arn > from));
  const page = streams.slice(0, data.Limit ?? 100);
  return {
    Streams: page.map(({ arn, table, label }) => ({ StreamArn: arn, TableName: table, StreamLabel: label })),
    ...(page.length < streams.length ? { LastEvaluatedStreamArn: page.at(-1)?.arn } : {}),
  };
};

export const describeStream: Operation = (engine, request, meter) => {
  const data = check<{ StreamArn: string; Limit?: number; ExclusiveStartShardId?: string }>(
    engine,
    'DescribeStream',
    request,
  );
  const stream = findStream(engine, data.StreamArn);
  meter.touch(stream.table);
  const start = stream.shards.findIndex(({ id }) => id === data.ExclusiveStartShardId) + 1;
  const page = stream.shards.slice(start, start + (data.Limit ?? 100));
  return {
    StreamDescription: {
      StreamArn: stream.arn,
      StreamLabel: stream.label,
      StreamStatus: stream.disabledAt === undefined ? 'ENABLED' : 'DISABLED',
      StreamViewType: stream.view,
      CreationRequestDateTime: stream.createdAt / 1000,
      TableName: stream.table,
      KeySchema: stream.keySchema,
      Shards: page.map(({ id, parent, starting, ending }) => ({
        ShardId: id,
        SequenceNumberRange: {
          StartingSequenceNumber: starting,
          ...(ending === undefined ? {} : { EndingSequenceNumber: ending }),
        },
        ...(parent === undefined ? {} : { ParentShardId: parent }),
      })),
      ...(start + page.length < stream.shards.length ? { LastEvaluatedShardId: page.at(-1)?.id } : {}),
    },
  };
};

interface IteratorRequest {
  StreamArn: string;
  ShardId: string;
  ShardIteratorType: 'TRIM_HORIZON' | 'LATEST' | 'AT_SEQUENCE_NUMBER' | 'AFTER_SEQUENCE_NUMBER';
  SequenceNumber?: string;
}

export const getShardIterator: Operation = (engine, request, meter) => {
  const data = check<IteratorRequest>(engine, 'GetShardIterator', request);
  const stream = findStream(engine, data.StreamArn);
  meter.touch(stream.table);
  const shard = findShard(stream, data.ShardId);
  return {
    ShardIterator: encodeIterator({
      arn: stream.arn,
      shardId: shard.id,
      after: startOf(engine, stream, shard, data),
      issuedAt: engine.clock(),
    }),
  };
};

function startOf(engine: Engine, stream: StoredStream, shard: Shard, data: IteratorRequest): string {
  const { ShardIteratorType: type, SequenceNumber: number } = data;
  const oldest = shard.trimmedTo ?? previous(shard.starting);
  if (type === 'TRIM_HORIZON') return oldest;
  if (type === 'LATEST') {
    const records = engine.store.space<StoredRecord>(recordSpace(stream.arn, shard.id));
    for (const [key] of records.entries({ reverse: true, limit: 1 })) return key;
    return oldest;
  }
  if (number === undefined) {
    throw validationError(`Missing required parameter: SequenceNumber is required for ShardIteratorType ${type}`);
  }
  if (number < shard.starting || (shard.ending !== undefined && number > shard.ending)) {
    throw validationError('Invalid SequenceNumber: it is not in the range of the shard');
  }
  const after = type === 'AT_SEQUENCE_NUMBER' ? previous(number) : number;
  if (after < oldest) throw trimmed();
  return after;
}

const previous = (number: string): string => String(BigInt(number) - 1n).padStart(number.length, '0');

export const getRecords: Operation = (engine, request, meter) => {
  const data = check<{ ShardIterator: string; Limit?: number }>(engine, 'GetRecords', request);
  const now = engine.clock();
  const position = decodeIterator(data.ShardIterator, now);
  const stream = findStream(engine, position.arn);
  meter.touch(stream.table);
  const shard = findShard(stream, position.shardId);
  if (shard.trimmedTo !== undefined && position.after < shard.trimmedTo) throw trimmed();
  const records: StreamRecord[] = [];
  let bytes = 0;
  let { after } = position;
  let more = false;
  const space = engine.store.space<StoredRecord>(recordSpace(stream.arn, shard.id));
  for (const [key, stored] of space.entries({ gt: after })) {
    bytes += stored.size;
    if (records.length >= (data.Limit ?? MAX_RECORDS) || (bytes > MAX_BYTES && records.length > 0)) {
      more = true;
      break;
    }
    records.push(streamRecord(stream, key, stored));
    after = key;
  }
  meter.items += records.length;
  const ended = shard.ending !== undefined && !more;
  return {
    Records: records,
    ...(ended
      ? {}
      : { NextShardIterator: encodeIterator({ arn: stream.arn, shardId: shard.id, after, issuedAt: now }) }),
  };
};
