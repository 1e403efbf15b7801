import type { AttributeMap } from '../../commands/index.js';
import { invalid } from '../../commands/errors/errors.js';
import { namesOf } from './path.js';
import { toItem } from './to-item.js';
import { toObject } from './to-object.js';

/** What the mapper takes beside an object or item. */
export interface MapperOptions {
  /** Stored names by the names of top-level members, where the two differ, such as `{ id: 'PK', kind: 'SK' }`. */
  readonly names?: Readonly<Record<string, string>>;
}

/** A mapper of one kind of object. */
export interface Mapper<T extends object> {
  /** See {@link toItem}. */
  toItem(object: T): AttributeMap;
  /** See {@link toObject}. */
  toObject(item: AttributeMap): T;
}

/**
 * The mapper of one kind of object, with its names said once.
 *
 * @throws InvalidInputError for two members of one stored name
 * @example
 * const customers = mapper<{ id: string; kind: string; preferred: boolean }>({ names: { id: 'pk', kind: 'sk' } });
 * const item = customers.toItem({ id: 'CUSTOMERS#1', kind: '1', preferred: true });
 * const customer = customers.toObject(item);
 */
export const mapper = <T extends object>(options: MapperOptions = {}): Mapper<T> => {
  checkNames(namesOf(options));
  return {
    toItem: (object) => toItem(object, options),
    toObject: (item) => toObject<T>(item, options),
  };
};

const checkNames = (names: Readonly<Record<string, string>>): void => {
  const stored = Object.values(names);
  if (new Set(stored).size < stored.length) invalid('names', 'gives two members one stored name');
};
