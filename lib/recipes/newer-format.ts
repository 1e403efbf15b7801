import { InvalidStoredItemError } from '../commands/index.js';

/** Refuses an item of a newer format, which may mean something else. @param what such as `the lock was written` */
export const newerFormat = (what: string): never => {
  throw new InvalidStoredItemError('format', `${what} by a newer version of safewrites`);
};
