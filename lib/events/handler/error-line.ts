import { SafeWritesError } from '../../commands/index.js';

/** What is told of an error: of one that is not the kit's only where it came from, since its message may quote a value. */
export interface ErrorLine {
  readonly name: string;
  readonly count: number;
  readonly message?: string;
  readonly at?: readonly string[];
}

const framesOf = ({ stack = '', message }: Error): string[] =>
  stack
    .replace(message, '')
    .split('\n')
    .filter((line) => /^ {4}at .*:\d+:\d+\)?$/.test(line))
    .slice(0, 5)
    .map((line) => line.trim());

const mostKinds = 5;

/** The first error of each name, with the number of its like. */
export const errorLines = (errors: readonly unknown[]): ErrorLine[] => {
  const kinds = new Map<string, { first: unknown; count: number }>();
  for (const error of errors) {
    // A name is a class's; one with anything else in it was made up, and may hold a value.
    const given = error instanceof Error ? error.name : typeof error;
    const name = /^\w{1,64}$/.test(given) ? given : 'Error';
    const known = kinds.get(name);
    if (known === undefined) kinds.set(name, { first: error, count: 1 });
    else known.count++;
  }
  return [...kinds].slice(0, mostKinds).map(([name, { first, count }]) => {
    if (!(first instanceof Error)) return { name, count };
    return first instanceof SafeWritesError
      ? { name, count, message: first.message }
      : { name, count, at: framesOf(first) };
  });
};
