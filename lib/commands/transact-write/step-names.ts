import { invalid } from '../errors/errors.js';

/** The names of a transaction's steps, in its order. */
export const stepNames = (steps: unknown): string[] => {
  if (typeof steps !== 'object' || steps === null)
    return invalid('steps', 'expected commands by the names of their steps');
  const names = Object.keys(steps);
  // Assigned to an object, it would set the prototype, and a write would be dropped.
  if (names.includes('__proto__')) invalid('__proto__', 'can not be the name of a step');
  return names;
};
