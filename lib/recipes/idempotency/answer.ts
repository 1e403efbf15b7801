import { invalid } from '../../commands/errors/errors.js';
import { checkObject } from '../arguments.js';

/**
 * What a call answers, as it is stored and replayed: text, and for HTTP a status and headers. With the record's own
 * fields it must fit an item of 400 KB.
 */
export interface Answer {
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
}

/** A copy that stays what it is, whatever its maker does to the original. */
export const frozen = (answer: Answer): Answer => {
  const { status, headers, body } = checkObject(answer, 'answer');
  if (body !== undefined && typeof body !== 'string') invalid('answer.body', 'expected text, such as JSON');
  if (headers !== undefined) checkObject(headers, 'answer.headers');
  return Object.freeze({ status, headers: headers && Object.freeze({ ...headers }), body });
};
