import { invalid } from '../errors/errors.js';
import { stepNames } from './step-names.js';
import type { Steps } from './transact-write.js';

type Joined<T extends readonly Steps[]> = T extends readonly [infer First, ...infer Rest extends readonly Steps[]]
  ? First & Joined<Rest>
  : unknown;

/**
 * Joins the steps of several helpers into one transaction's.
 *
 * @throws InvalidInputError for a name used twice: spreading objects would drop a write silently
 * @example
 * const claimSteps = (mail: string, id: string) => ({ email: mails.unique({ address: mail, owner: id }) });
 * await transactWrite(shop, joinSteps(claimSteps('bob@example.ch', 'bob'), { user: registrants.put(user).ifNotExists() }));
 */
export const joinSteps = <const T extends readonly Steps[]>(...parts: T): Joined<T> => {
  const joined: Record<string, unknown> = {};
  for (const part of parts) {
    for (const name of stepNames(part)) {
      if (Object.hasOwn(joined, name)) invalid(name, 'is the name of two steps: rename one');
      joined[name] = part[name];
    }
  }
  return joined as Joined<T>;
};
