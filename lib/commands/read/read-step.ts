import type { AttributeMap } from '../attributes/attribute-value.js';
import { hasBrand } from '../errors/brand.js';

/** What `transactGet` and `batchGet` take; `~i` is the item that it reads. */
export interface ReadStep<out I> {
  readonly '~read': I;
}

/** Asks a get for its part in a transaction or batch, which uses it up. Found by name across copies. */
export const readStepSymbol = Symbol.for('safewrites.read');

/** A get's part in a transaction or batch. */
export interface ReadParts {
  readonly table_: string;
  readonly key_: AttributeMap;
  readonly consistent_: boolean;
  readonly projection_: { readonly expression_: string; readonly names_: Readonly<Record<string, string>> } | undefined;
  decode_(item: AttributeMap): unknown;
}

export interface ReadCommand {
  [readStepSymbol](): ReadParts;
}

/** Whether the value is a get. */
export const isReadStep = (value: unknown): value is ReadCommand => hasBrand(value, readStepSymbol);
