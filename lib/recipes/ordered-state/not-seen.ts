import { SafeWritesError } from '../../commands/index.js';

/** Every outcome is told from the item that the condition saw; without it, each would be a guess. */
export const notSeen = (): never => {
  throw new SafeWritesError(
    'A failed condition did not say what it saw: returned items must not be denied or dropped.',
  );
};
