import { Handle, isHandle } from './handle.js';

const handleOfMethods = Symbol.for('safewrites.handleOf');

/** The names that a handle has for callers; a member of a map with such a name is reached by `at(name)`. */
const names = [
  'at',
  'size',
  'value',
  'eq',
  'ne',
  'lt',
  'le',
  'gt',
  'ge',
  'between',
  'in',
  'exists',
  'notExists',
  'notExistsOrLt',
  'notExistsOrLe',
  'beginsWith',
  'contains',
  'isType',
] as const;

/** What callers hold for a handle: the methods above, and a property for each member of a map. Nothing else has a name. */
class AttributeMethods {
  readonly [handleOfMethods]: Handle;

  constructor(handle: Handle) {
    this[handleOfMethods] = handle;
    const { kind_: kind, of_: of } = handle.attribute_.traits_;
    if (kind !== 'map' || handle.measuresSize_) return;
    for (const name of Object.keys(of as object)) {
      if ((names as readonly string[]).includes(name)) continue;
      Object.defineProperty(this, name, { get: () => methodsOf(handle.at(name)), enumerable: true });
    }
  }
}

const methods = Handle.prototype as unknown as Record<string, (...values: never[]) => unknown>;

for (const name of names) {
  const method = methods[name] as (...values: never[]) => unknown;
  Object.defineProperty(AttributeMethods.prototype, name, {
    value(this: AttributeMethods, ...values: never[]): unknown {
      const result = method.apply(this[handleOfMethods], values);
      return result instanceof Handle ? methodsOf(result) : result;
    },
  });
}

/** What callers hold for a handle. */
export const methodsOf = (handle: Handle): object => (handle.methods_ ??= new AttributeMethods(handle));

/** The handle behind what a caller gave; by symbol, so that no parsed JSON is one. */
export const handleOf = (value: unknown): Handle | undefined => {
  if (typeof value !== 'object' || value === null) return undefined;
  return isHandle(value) ? value : (value as Partial<AttributeMethods>)[handleOfMethods];
};
