import { InvalidInputError, InvalidStoredItemError } from '../errors/errors.js';

/** Whether it is DynamoDB's error of that name; by name, since a process may hold several SDK copies. */
export const isNamed = (error: unknown, name: string): boolean =>
  typeof error === 'object' && error !== null && (error as { name?: unknown }).name === name;

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

/** Adds what to do to the one refusal that a caller can't understand from DynamoDB's words. */
export const explained = (error: unknown): unknown => {
  if (!isNamed(error, 'ValidationException') || !String((error as Error).message).includes(missingParent)) return error;
  const explained = new InvalidInputError(
    'set',
    'the map or list that the path goes through is not stored in the item: set the whole map, or create it first',
  );
  explained.cause = error;
  return explained;
};
