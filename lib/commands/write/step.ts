import type { AttributeMap } from '../attributes/attribute-value.js';
import { hasBrand } from '../errors/brand.js';

/** What a transaction takes; `~f` is what `failed.<step>` holds beside its reason. */
export interface Step<out F> {
  readonly '~f': F;
}
/** What a batch takes: a put or delete without condition, of an entity whose version is dealt with. */
export interface Batchable {
  readonly '~b': true;
}

/** Asks a command for its part in a transaction or batch, which uses it up. Found by name across copies. */
export const stepSymbol = Symbol.for('safewrites.step');

/** A command's part in a transaction or batch. */
export interface StepParts {
  readonly kind_: 'Put' | 'Update' | 'Delete' | 'ConditionCheck';
  readonly request_: { readonly TableName: string; readonly [name: string]: unknown };
  readonly key_: AttributeMap;
  /** What an update writes at least, or the item of a put. */
  readonly written_: AttributeMap;
  /** Why it can be no part of a batch. */
  readonly notInBatch_: string | undefined;
  decode_(item: AttributeMap): unknown;
}

export interface StepCommand {
  [stepSymbol](): StepParts;
}

/** Whether the value is a command that a transaction can take. */
export const isStep = (value: unknown): value is StepCommand => hasBrand(value, stepSymbol);
