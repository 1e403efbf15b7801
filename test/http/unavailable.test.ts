import { expect, it } from 'vitest';
import { OutcomeUnknownError, TransactionCanceledException, type CancellationCode } from '../../lib/commands/index.js';
import { isUnavailable } from '../../lib/http/unavailable.js';
import { connectionLost, serviceError } from './meddle.js';

const cancelledBy = (reason: CancellationCode) => new TransactionCanceledException({ step: { reason } }, undefined);

it.each([
  ['throttled', serviceError('ThrottlingException')],
  ['throttled table', serviceError('ProvisionedThroughputExceededException')],
  ['throttled step', cancelledBy('ThrottlingError')],
  ['conflict', serviceError('TransactionConflictException')],
  ['unknown outcome', new OutcomeUnknownError({}, undefined)],
  ['service failure', serviceError('AnyName', 500)],
  ['connection lost', connectionLost()],
  ['name not found', Object.assign(new Error(), { code: 'ENOTFOUND' })],
  ['time-out', Object.assign(new Error(), { name: 'TimeoutError' })],
  ['abort', Object.assign(new Error(), { name: 'AbortError' })],
])('may succeed later: %s', (_name, error) => {
  expect(isUnavailable(error)).toBe(true);
});

it.each([
  ['bug', new TypeError('x')],
  ['no access', serviceError('AccessDeniedException')],
  ['no table', serviceError('ResourceNotFoundException')],
  ['failed condition', cancelledBy('ConditionalCheckFailed')],
  ['file not found', Object.assign(new Error(), { code: 'ENOENT' })],
  ['nothing', undefined],
  ['text', 'ThrottlingException'],
])('will fail again: %s', (_name, error) => {
  expect(isUnavailable(error)).toBe(false);
});
