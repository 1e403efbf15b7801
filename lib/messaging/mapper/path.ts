import { checkObject } from '../../recipes/arguments.js';
import type { MapperOptions } from './mapper.js';

/** Where in an object a mapper is: names in code are said, to find the mistake; others may be somebody's data. */
export const memberPath = (path: string, name: string): string => {
  const said = /^[A-Za-z_$][\w$]{0,39}$/.test(name) ? name : '{}';
  return path === '' ? said : `${path}.${said}`;
};

/** How deeply DynamoDB nests lists and maps in an attribute. */
export const maximumDepth = 32;

/** The stored names that options give. */
export const namesOf = (options: MapperOptions): Readonly<Record<string, string>> =>
  checkObject(checkObject(options, 'options').names ?? {}, 'names');
