import { describe, expect, it } from 'vitest';
import { callLine } from '../../lib/local/start/call-line.js';

const put = { operation: 'PutItem', items: 1, writeUnits: 1, readUnits: 0, outcome: 'ok' };
const transaction = { operation: 'TransactWriteItems', items: 4, writeUnits: 8, readUnits: 0, outcome: 'ok' };
const created = { status: 201, headers: [] };

describe('the line of a call', () => {
  it('sums up what was asked of DynamoDB', () => {
    const get = { operation: 'GetItem', items: 1, writeUnits: 0, readUnits: 0.5, outcome: 'ok' };
    expect(callLine('POST /charges', created, 12.4, [transaction, put, get])).toBe(
      'POST /charges 201 12 ms | DynamoDB: 3 requests, 9 write units, 0.5 read units: ' +
        'TransactWriteItems of 4 items, PutItem, GetItem',
    );
    expect(callLine('POST /charges', created, 1, [put])).toBe(
      'POST /charges 201 1 ms | DynamoDB: 1 request, 1 write unit: PutItem',
    );
  });

  it('names what failed, and says that an answer was replayed', () => {
    const replayed = { status: 201, headers: [['idempotent-replayed', 'true']] as const };
    const cancelled = { ...transaction, outcome: 'TransactionCanceledException' };
    expect(callLine('POST /charges', replayed, 1, [cancelled], 'a note')).toBe(
      'POST /charges 201 (replayed, a note) 1 ms | DynamoDB: 1 request, 8 write units: ' +
        'TransactWriteItems TransactionCanceledException',
    );
  });

  it('says that nothing was asked', () => {
    expect(callLine('GET to no route', { status: 404, headers: [] }, 0, [])).toBe(
      'GET to no route 404 0 ms | DynamoDB: no request',
    );
  });
});
