import type { Engine } from '../engine/engine.js';
import { batchWriteItem } from './batch-write.js';
import { describeContinuousBackups, updateContinuousBackups } from './continuous-backups.js';
import { createTable, extendCreateTable } from './create-table.js';
import { deleteItem, extendItemWrites, putItem, updateItem } from './item-writes.js';
import type { Operation } from './operation.js';
import { batchGetItem, getItem, query, scan } from './reads.js';
import { deleteTable, describeTable, listTables, tagging } from './tables.js';
import { batchExecuteStatement, executeStatement, executeTransaction } from '../partiql/operations.js';
import { describeStream, getRecords, getShardIterator, listStreams } from '../streams/operations.js';
import { describeTimeToLive, updateTimeToLive } from './time-to-live.js';
import { transactGetItems } from './transact-get.js';
import { transactWriteItems } from './transact-write.js';
import { extendUpdateTable, updateTable } from './update-table.js';

/** All operations, by the name that follows the dot of X-Amz-Target. */
export function createOperations(engine: Engine): ReadonlyMap<string, Operation> {
  extendItemWrites(engine);
  extendCreateTable(engine);
  extendUpdateTable(engine);
  const transactWrite = transactWriteItems(engine);
  return new Map<string, Operation>([
    ['BatchExecuteStatement', batchExecuteStatement],
    ['BatchGetItem', batchGetItem],
    ['BatchWriteItem', batchWriteItem],
    ['CreateTable', createTable],
    ['DeleteItem', deleteItem],
    ['DeleteTable', deleteTable],
    ['DescribeContinuousBackups', describeContinuousBackups],
    ['DescribeStream', describeStream],
    ['DescribeTable', describeTable],
    ['DescribeTimeToLive', describeTimeToLive],
    ['ExecuteStatement', executeStatement],
    ['ExecuteTransaction', executeTransaction(transactWrite)],
    ['GetItem', getItem],
    ['GetRecords', getRecords],
    ['GetShardIterator', getShardIterator],
    ['ListStreams', listStreams],
    ['ListTables', listTables],
    ['ListTagsOfResource', tagging('ListTagsOfResource')],
    ['PutItem', putItem],
    ['Query', query],
    ['Scan', scan],
    ['TagResource', tagging('TagResource')],
    ['TransactGetItems', transactGetItems],
    ['TransactWriteItems', transactWrite],
    ['UntagResource', tagging('UntagResource')],
    ['UpdateContinuousBackups', updateContinuousBackups],
    ['UpdateItem', updateItem],
    ['UpdateTable', updateTable],
    ['UpdateTimeToLive', updateTimeToLive],
  ]);
}
