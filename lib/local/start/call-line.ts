import type { DynamoDBRequest } from './dynamodb-requests.js';
import type { HttpAnswer } from './handler-response.js';

/** One line about a call: what it was, how it ended, what it asked of DynamoDB. It holds no key and no value. */
export function callLine(
  call: string,
  answer: Pick<HttpAnswer, 'status' | 'headers'>,
  durationMs: number,
  requests: readonly DynamoDBRequest[],
  note?: string,
): string {
  const replayed = answer.headers.some(([name, value]) => name === 'idempotent-replayed' && value === 'true');
  const marks = [replayed ? 'replayed' : undefined, note].filter((mark) => mark !== undefined);
  return [
    call,
    String(answer.status),
    ...(marks.length === 0 ? [] : [`(${marks.join(', ')})`]),
    `${Math.round(durationMs)} ms`,
    `| DynamoDB: ${requestTotals(requests)}`,
  ].join(' ');
}

/** What was asked of DynamoDB, and what it took. */
export function requestTotals(requests: readonly DynamoDBRequest[]): string {
  if (requests.length === 0) return 'no request';
  const sum = (of: (request: DynamoDBRequest) => number) => requests.reduce((total, request) => total + of(request), 0);
  const units = [
    unitsText(
      sum(({ writeUnits }) => writeUnits),
      'write',
    ),
    unitsText(
      sum(({ readUnits }) => readUnits),
      'read',
    ),
  ].filter((text) => text !== undefined);
  const count = `${requests.length} request${requests.length === 1 ? '' : 's'}`;
  return `${[count, ...units].join(', ')}: ${requests.map(dynamoDBRequestText).join(', ')}`;
}

const unitsText = (units: number, kind: string): string | undefined =>
  units === 0 ? undefined : `${units} ${kind} unit${units === 1 ? '' : 's'}`;

/** `TransactWriteItems of 4 items`, or with the error's name where it failed. */
export function dynamoDBRequestText({ operation, items, outcome }: DynamoDBRequest): string {
  if (outcome !== 'ok') return `${operation} ${outcome}`;
  return items > 1 ? `${operation} of ${items} items` : operation;
}
