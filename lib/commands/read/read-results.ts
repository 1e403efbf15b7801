/** A read that found its item. */
export interface Found<out I> {
  readonly found: true;
  readonly item: I;
}
/** A read that found nothing. */
export interface NotFound {
  readonly found: false;
  readonly item: undefined;
}

/** A selected value; `value` exists only once `found` was looked at, since a 0 would read like a stored 0. */
export type Selected<V> =
  | { readonly found: true; readonly value: V; valueOr<D>(fallback: D): V | D }
  | { readonly found: false; valueOr<D>(fallback: D): D };

/** A selected value of an item that was found. */
export const selected = (value: unknown): Selected<unknown> => ({ found: true, value, valueOr: () => value });
/** No item, no value: only a fallback. */
export const notSelected: Selected<never> = { found: false, valueOr: (fallback) => fallback };
