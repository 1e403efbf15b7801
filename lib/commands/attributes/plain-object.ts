/** Whether it is another realm's `Object.prototype`: one that was made for its members has none of those. */
const isRoot = (prototype: object): boolean =>
  Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');

/**
 * Whether it is an object literal or the like, of any realm. A Map, a Date and others keep their state where `Object.keys`
 * does not see it, so as a map they would be stored empty.
 */
export const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || isRoot(prototype as object);
};

/** Whether it can be read as members: a plain object, or an instance that has some of its own. */
export const hasMembers = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  (isPlain(value) || Object.keys(value).length > 0);
