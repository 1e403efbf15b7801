import { isPlain } from '../../commands/attributes/plain-object.js';

const mutatorsOf = (value: object): readonly string[] => {
  if (value instanceof Set) return ['add', 'clear', 'delete'];
  return Array.isArray(value)
    ? ['copyWithin', 'fill', 'pop', 'push', 'reverse', 'shift', 'sort', 'splice', 'unshift']
    : [];
};

/**
 * Has whatever changes a value, all the way down, call `refuse`, which throws. It reads, spreads and clones as before: by
 * setters and no proxy, of which `structuredClone` takes none.
 */
export const readOnly = (value: unknown, refuse: () => never): void => {
  if (typeof value !== 'object' || value === null) return;
  // A constant that a converter gives may come again.
  if (!Object.isExtensible(value)) return;
  if (!(Array.isArray(value) || value instanceof Set || isPlain(value))) return;
  for (const [name, member] of Object.entries(value)) {
    readOnly(member, refuse);
    Object.defineProperty(value, name, { get: () => member as unknown, set: refuse, configurable: false });
  }
  for (const name of mutatorsOf(value)) Object.defineProperty(value, name, { value: refuse });
  Object.preventExtensions(value);
};
