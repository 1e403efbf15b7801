import { InvalidInputError, InvalidStoredItemError } from '../errors/errors.js';
import { ValidationException } from '../errors/validation-exception.js';

/** Whether it is DynamoDB's error of that name; by name, since a process may hold several SDK copies. */
export const isNamed = (error: unknown, name: string): boolean =>
  typeof error === 'object' && error !== null && (error as { name?: unknown }).name === name;

const throttles = ['ProvisionedThroughputExceededException', 'ThrottlingException', 'RequestLimitExceeded'];

/** Whether DynamoDB had too much to do, and did nothing of this attempt; one before it, without an answer, may take effect. */
export const isThrottle = (error: unknown): boolean => throttles.some((name) => isNamed(error, name));

/** Keeps what holds stored values out of logs, which print what is enumerable; code still reads it. */
export const hideItems = (error: unknown): unknown => {
  if (typeof error !== 'object' || error === null) return error;
  for (const name of ['Item', 'CancellationReasons']) {
    const value = (error as Record<string, unknown>)[name];
    if (value !== undefined) Object.defineProperty(error, name, { value, enumerable: false });
  }
  return error;
};

/** Reads what a failed condition saw; where that can't be read, the failure is the error's cause. */
export const readSeen = (read: () => unknown, failure: unknown): unknown => {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidStoredItemError) error.cause ??= hideItems(failure);
    throw error;
  }
};

const missingParent = 'document path provided in the update expression is invalid';

/** Throws what a request met: without DynamoDB's words where they may quote a value, and with what to do where they don't say. */
export const rethrow = (error: unknown): never => {
  if (!isNamed(error, 'ValidationException') || error instanceof ValidationException) throw error;
  if (!String((error as Error).message).includes(missingParent)) throw new ValidationException(error);
  const explained = new InvalidInputError(
    'set',
    'the map or list that the path goes through is not stored in the item: set the whole map, or create it first',
  );
  explained.cause = error;
  throw explained;
};
