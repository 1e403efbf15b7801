import { isFilledText } from '../commands/attributes/text.js';
import { invalid } from '../commands/errors/errors.js';

/** Gives each prefix one entity, however often it is asked for: a table binds an entity once. */
export const byPrefix = <E>(make: (prefix: string) => E, usual: string): ((prefix?: string) => E) => {
  const made = new Map<string, E>();
  return (prefix = usual) => {
    if (!isFilledText(prefix)) invalid('prefix', 'expected text, not empty');
    let entity = made.get(prefix);
    if (entity === undefined) made.set(prefix, (entity = make(prefix)));
    return entity;
  };
};
