import type { AttributeMap } from '../attributes/attribute-value.js';

/** What `transactGet` and `batchGet` take; `~i` is the item that it reads. */
export interface ReadStep<out I> {
  readonly '~read': I;
}

/** Asks a get for its part in a transaction or batch, which uses it up. Found by name across copies. */
export const readStepSymbol = Symbol.for('safewrites.read');

/** A get's part in a transaction or batch. */
export interface ReadParts {
  readonly table: string;
  readonly key: AttributeMap;
  readonly consistent: boolean;
  readonly projection: { readonly expression: string; readonly names: Readonly<Record<string, string>> } | undefined;
  decode(item: AttributeMap): unknown;
}

export interface ReadCommand {
  [readStepSymbol](): ReadParts;
}

/** Whether the value is a get. */
export const isReadStep = (value: unknown): value is ReadCommand =>
  typeof value === 'object' && value !== null && readStepSymbol in value;
