import { hasBrand } from '../errors/brand.js';
import { invalid } from '../errors/errors.js';
import type { Decode, Encode } from './attribute-value.js';
import { isFilledText } from './text.js';

/** What a handle of the attribute can do; the rarer kinds share `value`. */
export type Kind = 'value' | 'text' | 'number' | 'bigint' | 'decimal' | 'version' | 'map' | 'record' | 'list' | 'set';

/**
 * What every attribute builder carries for the compiler. The members named `~x` never exist at run time: `~v` the value
 * read, `~i` the value put, `~k` the kind, `~m` the members. `~r` and `~o` select the required and the optional names of
 * an item by intersecting them with `unknown` or `never`, `~p` and `~q` those of a put: no conditional type per
 * attribute, which is what keeps a hundred entities cheap.
 */
export interface AnyAttribute {
  readonly '~v': unknown;
  readonly '~i': unknown;
  readonly '~k': Kind;
  readonly '~m': unknown;
  readonly '~r': unknown;
  readonly '~o': unknown;
  readonly '~p': unknown;
  readonly '~q': unknown;
}

/** An attribute builder: required until `.optional()` or `.default(…)`. Immutable: each call gives a new one. */
export interface Attribute<out V, out K extends Kind = 'value', out M = unknown, out I = V> extends Shared<V, K, M, I> {
  readonly '~r': unknown;
  readonly '~o': never;
  readonly '~p': unknown;
  readonly '~q': never;
  /** The attribute may be absent; read as `undefined`. */
  optional(): OptionalAttribute<V, K, M, I>;
  /** A put without it stores this value, and an item stored without it reads as this value. */
  default(value: V | (() => V)): DefaultAttribute<V, K, M, I>;
  /** The attribute's stored name, where it differs from the member's. */
  savedAs(name: string): Attribute<V, K, M, I>;
  /** Converts between the stored kind and a type of your own. Both must be pure, and `decode(encode(x))` equal x. */
  via<U>(converter: Converter<U, V>): Attribute<U, K extends 'text' ? 'text' : 'value'>;
}

/** Converts between a value of your own type and the attribute's. */
export interface Converter<U, V> {
  encode(value: U): NoInfer<V>;
  decode(stored: V): U;
}

/** See {@link Attribute.optional}. */
export interface OptionalAttribute<out V, out K extends Kind = 'value', out M = unknown, out I = V> extends Shared<
  V,
  K,
  M,
  I
> {
  readonly '~r': never;
  readonly '~o': unknown;
  readonly '~p': never;
  readonly '~q': unknown;
  /** See {@link Attribute.savedAs}. */
  savedAs(name: string): OptionalAttribute<V, K, M, I>;
}

/** See {@link Attribute.default}. */
export interface DefaultAttribute<out V, out K extends Kind = 'value', out M = unknown, out I = V> extends Shared<
  V,
  K,
  M,
  I
> {
  readonly '~r': unknown;
  readonly '~o': never;
  readonly '~p': never;
  readonly '~q': unknown;
  /** See {@link Attribute.savedAs}. */
  savedAs(name: string): DefaultAttribute<V, K, M, I>;
}

interface Shared<out V, out K extends Kind, out M, out I> {
  readonly '~v': V;
  readonly '~i': I;
  readonly '~k': K;
  readonly '~m': M;
}

/** Attributes by member name. */
export interface Attributes {
  readonly [name: string]: AnyAttribute;
}

/** How a value stands in a key template. */
export interface KeyText {
  /** The text of a checked value; width only where `padded`. */
  encode_(value: unknown, path: string): string;
  decode_(text: string): unknown;
  /** Digits only, so that a width can pad it. */
  readonly padded_: boolean;
  /** What texts of this kind look like, to tell that a literal part of another template can never be one. */
  readonly pattern_?: RegExp;
}

/** What distinguishes a builder beside its codec. */
export interface Traits {
  readonly kind_: Kind;
  /** How it stands in a key; absent where it can't. */
  readonly key_?: KeyText | undefined;
  /** The members of a map, the element of a list or record. */
  readonly of_?: Record<string, AttributeBuilder> | AttributeBuilder | undefined;
  /** Encodes one element of a set, for ADD, DELETE and contains. */
  readonly element_?: Make | undefined;
  readonly optional_?: boolean;
  readonly fallback_?: { readonly value: unknown } | undefined;
  readonly savedAs_?: string | undefined;
  /** An absent attribute of this kind reads as this, even where required: an empty set. */
  readonly empty_?: (() => unknown) | undefined;
  readonly timeToLive_?: boolean;
}

/** Makes the codec of an attribute for one path, which its errors name. Runs once per entity, never per item. */
export type Make = (path: string) => [Encode, Decode];

const attributeBrand = Symbol.for('safewrites.attribute');

/** The run-time half of the builders. Each builder carries its own codec, so that a bundle holds only the kinds it uses. */
export class AttributeBuilder {
  get [attributeBrand](): 1 {
    return 1;
  }
  constructor(
    readonly make_: Make,
    readonly traits_: Traits,
  ) {}

  optional(): AttributeBuilder {
    return new AttributeBuilder(this.make_, { ...this.traits_, optional_: true });
  }

  default(value: unknown): AttributeBuilder {
    return new AttributeBuilder(this.make_, { ...this.traits_, fallback_: { value } });
  }

  savedAs(savedAs: string): AttributeBuilder {
    if (!isFilledText(savedAs) || savedAs === '__proto__') {
      invalid('savedAs', 'expected the name of a stored attribute');
    }
    return new AttributeBuilder(this.make_, { ...this.traits_, savedAs_: savedAs });
  }

  via(converter: Converter<unknown, unknown>): AttributeBuilder {
    const {
      key_: key,
      kind_: kind,
      optional_: optional,
      savedAs_: savedAs,
      timeToLive_: timeToLive,
      empty_: empty,
    } = this.traits_;
    return new AttributeBuilder(
      (path) => {
        const [encode, decode] = this.make_(path);
        return [(value) => encode(converter.encode(value)), (stored) => converter.decode(decode(stored))];
      },
      {
        kind_: kind === 'text' ? kind : 'value',
        ...(optional === true && { optional_: optional }),
        ...(savedAs !== undefined && { savedAs_: savedAs }),
        ...(timeToLive === true && { timeToLive_: timeToLive }),
        ...(empty !== undefined && { empty_: () => converter.decode(empty()) }),
        key_: key && {
          ...key,
          encode_: (value, path) => key.encode_(converter.encode(value), path),
          decode_: (text) => converter.decode(key.decode_(text)),
        },
      },
    );
  }
}

/** Whether the value is a builder, of this or another copy of the package. */
export const isAttribute = (value: unknown): value is AttributeBuilder => hasBrand(value, attributeBrand);

/** The builder that a list or record is made of. */
export const attributeOf = (value: unknown, path: string): AttributeBuilder =>
  isAttribute(value) ? value : invalid(path, 'expected an attribute for its elements, such as string()');

/**
 * An item as it is read: required and defaulted members, optional ones.
 */
export type ItemOf<A extends Attributes> = { [K in keyof A as K & A[K]['~r']]: A[K]['~v'] } & {
  [K in keyof A as K & A[K]['~o']]?: A[K]['~v'] | undefined;
};

/** An item as it is put: defaulted members may be left out. */
export type InputOf<A extends Attributes> = { [K in keyof A as K & A[K]['~p']]: A[K]['~i'] } & {
  [K in keyof A as K & A[K]['~q']]?: A[K]['~i'] | undefined;
};
