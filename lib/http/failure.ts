import { resultOf } from './answer.js';
import { currentCall } from './call-log.js';
import type { HttpResult } from './event.js';
import { ProblemError, problem, problems } from './problem.js';
import { isUnavailable } from './unavailable.js';

/** The answer to what was thrown; itself throws nothing. */
export const failure = (error: unknown): HttpResult => {
  const call = currentCall();
  if (error instanceof ProblemError) {
    const { status } = error.problem;
    if (call.outcome === 'failed') call.outcome = status < 500 ? 'invalid' : status === 503 ? 'unavailable' : 'failed';
    try {
      return resultOf(problem(error.problem));
    } catch (refused) {
      return failure(refused);
    }
  }
  call.error = error;
  call.outcome = isUnavailable(error) ? 'unavailable' : 'failed';
  return resultOf(problem(call.outcome === 'failed' ? problems.failed() : problems.unavailable()));
};
