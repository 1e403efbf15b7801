import { loggedFrames, loggedName } from '../../commands/errors/logged-error.js';
import { SafeWritesError } from '../../commands/index.js';

/** What is told of an error: of one that is not the kit's only where it came from, since its message may quote a value. */
export interface ErrorLine {
  readonly name: string;
  readonly count: number;
  readonly message?: string;
  readonly at?: readonly string[];
}

const mostKinds = 5;

/** The first error of each name, with the number of its like. */
export const errorLines = (errors: readonly unknown[]): ErrorLine[] => {
  const kinds = new Map<string, { first: unknown; count: number }>();
  for (const error of errors) {
    const name = loggedName(error);
    const known = kinds.get(name);
    if (known === undefined) kinds.set(name, { first: error, count: 1 });
    else known.count++;
  }
  return [...kinds].slice(0, mostKinds).map(([name, { first, count }]) => {
    if (!(first instanceof Error)) return { name, count };
    return first instanceof SafeWritesError
      ? { name, count, message: first.message }
      : { name, count, at: loggedFrames(first) };
  });
};
