import { checkObject } from '../../recipes/arguments.js';
import type { MapperOptions } from './mapper.js';

/** A member's place for an error: its name may be somebody's data, and nothing declares it. */
export const placeOf = (place: number): string => `{${place}}`;

/** How deeply DynamoDB nests lists and maps in an attribute. */
export const maximumDepth = 32;

/** The stored names that options give. */
export const namesOf = (options: MapperOptions): Readonly<Record<string, string>> =>
  checkObject(checkObject(options, 'options').names ?? {}, 'names');
