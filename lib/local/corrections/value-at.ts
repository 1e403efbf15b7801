import type { WireItem, WireValue } from '../engine/types.js';

/** A path of an expression, its names resolved. */
export type Path = (string | number)[];

/** What a path names in an item; `constructor` and the like name nothing unless the item has such an attribute. */
export function valueAt(path: Path, item: WireItem): WireValue | undefined {
  let value: WireValue | undefined = { M: item };
  for (const step of path) {
    if (typeof step === 'number') value = value.L?.[step];
    else value = value.M && Object.hasOwn(value.M, step) ? value.M[step] : undefined;
    if (value === undefined) return undefined;
  }
  return value;
}
