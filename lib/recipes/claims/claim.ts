import type { AnyEntity, Condition, EntityTable, ValueHandle } from '../../commands/index.js';
import { brandOf, hasBrand } from '../../commands/errors/brand.js';
import { invalid } from '../../commands/errors/errors.js';
import { bindingOf } from '../../commands/table/table.js';
import { checkFunction, checkObject } from '../arguments.js';

/** What {@link claimOn} takes. */
export interface ClaimOptions<C extends AnyEntity, V> {
  /** The claim of a value: its key is made of the value alone. */
  readonly item: (value: V, owner: string) => C['~input'];
  /** The claim's attribute that holds the owner. */
  readonly owner: keyof C['~item'] & string;
  /**
   * Brings values to the form that is unique, such as a mail address to lower case. Applied to every value before its
   * claim is taken, compared or released, so the stored claims depend on it: a change of it needs a migration.
   * @default as it is
   */
  readonly normalize?: ((value: V) => V) | undefined;
}

/** How one kind of value is claimed. */
export interface Claim<in V> {
  readonly '~claim': (value: V) => void;
}

/** The run-time half of {@link Claim}. */
export interface ClaimModel {
  readonly table: EntityTable<AnyEntity>;
  /** The claim's entity, by which two kinds of claims are told apart. */
  readonly entity: object;
  readonly owner: ValueHandle<string, unknown>;
  /** That the value is free, or the owner's. An item without owner, which somebody took away, is neither. */
  readonly isFreeFor: (by: string) => Condition<string>;
  /** The claim's item, for the normalised value. */
  readonly itemOf: (value: unknown, by: string) => Record<string, unknown>;
  /** The inputs of its key. */
  readonly keyOf: (value: unknown, by: string) => Record<string, unknown>;
  /** The key itself, by which two values are one claim. */
  readonly keyText: (value: unknown, by: string) => string;
  /** Whether an item is a claim of the owner's. */
  readonly isOf: (item: unknown, by: string) => boolean;
}

const claimBrand = brandOf('claim');

/** The run-time half of what {@link claimOn} gave. */
export const claimModelOf = (claim: unknown): ClaimModel =>
  hasBrand(claim, claimBrand)
    ? ((claim as Record<symbol, ClaimModel>)[claimBrand] as ClaimModel)
    : invalid('claims', 'expected claims that claimOn made');

/**
 * How one kind of value is claimed: by an item keyed by the value, which holds its owner. For {@link uniqueClaims}.
 *
 * @throws InvalidInputError where the claims have no such attribute
 * @example
 * const mailClaim = claimOn(mails, {
 *   item: (address: string, owner: string) => ({ address, owner }),
 *   owner: 'owner',
 *   normalize: (address) => address.toLowerCase(),
 * });
 */
export const claimOn = <C extends AnyEntity, V>(table: EntityTable<C>, options: ClaimOptions<C, V>): Claim<V> => {
  const { model_: model } = bindingOf(table).entity_;
  const { item, owner, normalize = (value: V) => value } = checkObject(options, 'options');
  checkFunction(item, 'item');
  checkFunction(normalize, 'normalize');
  if (typeof owner !== 'string' || !Object.hasOwn(model.attrs, owner))
    invalid(model.name, 'has no attribute of the name of the owner');
  if (model.keyInputs_.some((field) => field.name_ === owner)) {
    invalid(owner, 'is part of the key, so two owners could claim one value');
  }
  if (model.version_ !== undefined) invalid(model.name, 'has a version(), which a claim has no use for');
  const [input] = model.keyInputs_;
  if (input === undefined) return invalid(model.name, 'has a key without inputs: all values would have one claim');
  const key = model.attrs[input.name_] as ValueHandle<string, unknown>;
  const holder = model.attrs[owner] as ValueHandle<string, unknown>;
  const itemOf = (value: unknown, by: string) =>
    checkObject(
      item(normalize(value as V), by) as Record<string, unknown>,
      'item',
      'expected the function to give a claim',
    );
  const claim: ClaimModel = {
    table: table,
    entity: model,
    owner: holder,
    isFreeFor: (by) => key.notExists().or(holder.eq(by)),
    itemOf,
    keyOf: (value, by) => {
      const claimed = itemOf(value, by);
      return Object.fromEntries(model.keyInputs_.map(({ name_: name }) => [name, claimed[name]]));
    },
    keyText: (value, by) => {
      const { pk, sk } = model.key(itemOf(value, by));
      return JSON.stringify([pk, sk]);
    },
    isOf: (stored, by) => (stored as Record<string, unknown> | undefined)?.[owner] === by,
  };
  return { [claimBrand]: claim } as unknown as Claim<V>;
};

/** Whether two values have one claim; `undefined` has none. */
export const sameClaim = ({ keyText }: ClaimModel, a: unknown, b: unknown, by: string): boolean =>
  a === undefined || b === undefined ? a === b : keyText(a, by) === keyText(b, by);

/**
 * Takes a value that is free, or is the owner's already: then it writes the claim again as it is, so that a call whose
 * response was lost can be made again.
 */
export const take = ({ table, itemOf, isFreeFor }: ClaimModel, value: unknown, by: string) =>
  table.put(itemOf(value, by)).if(isFreeFor(by)).returnOldOnFailure();

/** Takes a value that nobody has claimed, the owner included. */
export const takeUnclaimed = ({ table, itemOf }: ClaimModel, value: unknown, by: string) =>
  table.unique(itemOf(value, by)).returnOldOnFailure();

/** Releases a value that is the owner's. */
export const release = ({ table, keyOf, owner }: ClaimModel, value: unknown, by: string) =>
  table.delete(keyOf(value, by)).if(owner.eq(by)).returnOldOnFailure();

/** Releases a value that is the owner's, or free. */
export const releaseIfHeld = ({ table, keyOf, isFreeFor }: ClaimModel, value: unknown, by: string) =>
  table.delete(keyOf(value, by)).if(isFreeFor(by)).returnOldOnFailure();
