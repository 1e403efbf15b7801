import type { AttributeValue } from '../attributes/attribute-value.js';
import type { AttributeBuilder, Attributes, AnyAttribute, InputOf, ItemOf } from '../attributes/attribute.js';
import { compileFields, type Field } from '../attributes/fields.js';
import { checkText, isFilledText } from '../attributes/text.js';
import { invalid } from '../errors/errors.js';
import { handleOf, methodsOf } from '../expressions/attribute-methods.js';
import {
  Handle,
  operandOf,
  type AttributeHandle,
  type HandleOf,
  type HandleRef,
  type TypedValue,
} from '../expressions/handle.js';
import { textCondition, type Condition } from '../expressions/condition.js';
import { checkExpressionText } from '../expressions/expression-text.js';
import { KeyTemplate, type InputsOf } from '../keys/key-template.js';

/** The key of an index, as templates over the entity's attributes. */
export interface IndexDefinition {
  readonly pk: string;
  readonly sk?: string;
  /** What the index projects, where that is not everything: the members, or only keys. */
  readonly project?: 'keys' | readonly string[];
}
export interface IndexDefinitions {
  readonly [index: string]: IndexDefinition;
}

/** What {@link entity} takes. */
export interface EntityDefinition<
  P extends string,
  S extends string,
  A extends Attributes,
  X extends IndexDefinitions,
> {
  /** The partition key's template, such as `CUSTOMER#{customer}`. */
  readonly pk: P;
  /** The sort key's template, such as `ORDER#{number:10}`; left out for a table without sort keys. */
  readonly sk?: S;
  readonly attributes: A & { readonly [K in InputsOf<P> | InputsOf<S>]: AnyAttribute };
  /** Index keys, by the name of the index. An item that lacks an input is not in that index. */
  readonly indexes?: X;
  /** One character that stands between the parts of keys, and in no value. @default '#' */
  readonly separator?: string;
  /** Percent-encodes the separator in values instead of refusing it. @default false */
  readonly escape?: boolean;
}

/** The key inputs of an entity, by name. */
export type KeyOf<A extends Attributes, Inputs extends PropertyKey> = { [K in Inputs & keyof A]: A[K]['~v'] };

/** What `set({ … })` takes: any attribute but the inputs of the primary key. */
export type SettableOf<A extends Attributes, Inputs extends PropertyKey> = {
  [K in keyof A]?: A[K]['~i'] | undefined;
} & { [K in Inputs]?: never };

type HandlesOf<N, A extends Attributes, Inputs> = {
  readonly [K in keyof A]: K extends Inputs ? AttributeHandle<N, A[K]['~v'], A[K]['~v']> : HandleOf<N, A[K]>;
};

/** What the compiler needs of any entity. */
export interface AnyEntity {
  readonly name: string;
  readonly '~item': object;
  /** Not `object`: comparing it with that would work out the input of every entity that is bound. */
  readonly '~input': unknown;
  readonly '~key': object;
  readonly '~pk': object;
  readonly '~pt': string;
  readonly '~set': object;
  readonly '~version': boolean;
  readonly '~indexes': object;
}

/** An entity: what one kind of item looks like, and how its keys are made. It loads no SDK. */
export interface Entity<
  N extends string,
  P extends string,
  S extends string,
  A extends Attributes,
  X extends IndexDefinitions,
> {
  /** The discriminator, stored in the table's type attribute. */
  readonly name: N;
  /** Handles on the attributes, for conditions, updates and projections. */
  readonly attrs: HandlesOf<N, A, InputsOf<P> | InputsOf<S>>;
  readonly pk: TemplateOf<A, InputsOf<P>>;
  readonly sk: TemplateOf<A, InputsOf<S>>;
  /**
   * The stored key of an item.
   * @example Order.key({ customer: 'alice', number: 1 }) // { pk: 'CUSTOMER#alice', sk: 'ORDER#0000000001' }
   */
  key(key: KeyOf<A, InputsOf<P> | InputsOf<S>>): { readonly pk: string; readonly sk: string };
  /**
   * A condition or an update's value as expression text, the way out where no method says it. Handles are written as
   * their paths, values through `handle.value(…)`; nothing else can be put in, so no value becomes text.
   * @example orders.update(key).set({ … }).if(Order.text`size(${Order.attrs.lines}) < ${Order.attrs.total.value(5)}`)
   */
  text(
    strings: TemplateStringsArray,
    ...inserts: readonly (HandleRef<N, unknown> | TypedValue)[]
  ): Condition<N> & UpdateText<N>;
  readonly '~item': ItemOf<A>;
  readonly '~input': InputOf<A>;
  readonly '~key': KeyOf<A, InputsOf<P> | InputsOf<S>>;
  readonly '~pk': KeyOf<A, InputsOf<P>>;
  readonly '~pt': P;
  readonly '~set': SettableOf<A, InputsOf<P> | InputsOf<S>>;
  readonly '~version': 'version' extends A[keyof A]['~k'] ? true : false;
  readonly '~indexes': { readonly [I in keyof X]: IndexOf<A, X[I]> };
}

/** Expression text as the value of an update. */
export interface UpdateText<out N> {
  readonly '~u': N;
}

interface IndexOf<A extends Attributes, I extends IndexDefinition> {
  readonly pk: KeyOf<A, InputsOf<I['pk']>>;
  readonly sk: KeyOf<A, I['sk'] extends string ? InputsOf<I['sk']> : never>;
}

interface TemplateOf<A extends Attributes, Inputs extends PropertyKey> {
  /** The key's text. @throws InvalidInputError for a missing, empty or over-long input, or one with the separator */
  of(inputs: KeyOf<A, Inputs>): string;
  /** The inputs of a stored key. @throws InvalidStoredItemError where it is no key of this template */
  parse(text: string): KeyOf<A, Inputs>;
}

/** The type of an entity's items, as they are read. */
export type Item<E extends { readonly '~item': unknown }> = E['~item'];
/** The type of what an entity's `put` takes: defaulted members, and the version of a new item, may be left out. */
export type Input<E extends { readonly '~input': unknown }> = E['~input'];

const entityBrand = Symbol.for('safewrites.entity');
/** Grows when what commands need of an entity changes, so that two copies of the package don't misread each other. */
const protocol = 1;

/** An index key, compiled. */
export interface EntityIndex {
  readonly name_: string;
  readonly pk: KeyTemplate;
  readonly sk: KeyTemplate | undefined;
  /** The inputs of both its keys. */
  readonly keyInputs_: readonly Field[];
  readonly project_: 'keys' | readonly string[] | undefined;
}

/** The run-time half of {@link Entity}. */
export class EntityModel {
  get [entityBrand](): number {
    return protocol;
  }
  readonly fields_: readonly Field[];
  /** What callers hold: the methods of the handles. */
  readonly attrs: Readonly<Record<string, unknown>>;
  private readonly byName_ = new Map<string, Handle>();
  readonly pk: KeyTemplate;
  readonly sk: KeyTemplate | undefined;
  readonly keyInputs_: readonly Field[];
  readonly indexes_: readonly EntityIndex[];
  readonly version_: Field | undefined;
  readonly timeToLive_: Field | undefined;
  readonly type_: AttributeValue;
  private handles_ = 0;
  /** Compiled forms by the table's naming; kept here so that they live as long as the entity. */
  readonly compiled_ = new Map<string, unknown>();

  constructor(
    readonly name: string,
    definition: EntityDefinition<string, string, Attributes, IndexDefinitions>,
  ) {
    if (!isFilledText(name)) invalid('entity', 'expected a name, which is stored as the type of its items');
    if (typeof definition !== 'object' || definition === null || typeof definition.attributes !== 'object')
      invalid(name, 'expected a definition with keys and attributes');
    const { separator = '#', escape = false } = definition;
    // One character: a value that ends in half of a longer one could not be told from its neighbour. No letter or digit:
    // a number that is padded to a width would hold it.
    if (separator !== '#' && (typeof separator !== 'string' || !/^[^\p{L}\p{N}\p{Cs}{}%\u{10ffff}]$/u.test(separator)))
      invalid(name, 'expected a separator of one character that is no letter, digit, brace or percent sign');
    const members = definition.attributes as unknown as Record<string, AttributeBuilder>;
    // Shared by all commands of the entity, and handed out with their requests.
    this.type_ = Object.freeze({ S: name });
    checkText(name, 'entity');
    this.fields_ = compileFields(members, '');
    const template = (text: string, role: 'pk' | 'sk', owner = name, primary = true): KeyTemplate =>
      new KeyTemplate(text, role, this.fields_, owner, { separator, escape }, primary);
    this.pk = template(definition.pk, 'pk');
    this.sk = definition.sk === undefined ? undefined : template(definition.sk, 'sk');
    this.keyInputs_ = inputsOf(this.pk, this.sk);
    this.version_ = this.only_((field) => field.attribute_.traits_.kind_ === 'version', 'version()');
    this.timeToLive_ = this.only_((field) => field.attribute_.traits_.timeToLive_ === true, 'timeToLive()');
    this.indexes_ = Object.entries(definition.indexes ?? {}).map(([index, { pk, sk, project }]) => {
      const owner = `${name}.${index}`;
      const partition = template(pk, 'pk', owner, false);
      const sort = sk === undefined ? undefined : template(sk, 'sk', owner, false);
      return { name_: index, pk: partition, sk: sort, keyInputs_: inputsOf(partition, sort), project_: project };
    });
    for (const field of this.fields_) {
      const writable = !this.keyInputs_.includes(field);
      const { attribute_: attribute, path_: path, stored_: stored } = field;
      const codec = [field.encode_, field.decode_] as const;
      this.byName_.set(path, new Handle(this, attribute, path, [stored], undefined, writable, true, path, codec));
    }
    for (const { project_: project } of this.indexes_) {
      if (project !== undefined && project !== 'keys') for (const member of project) this.handle_(member);
    }
    this.attrs = Object.fromEntries([...this.byName_].map(([path, handle]) => [path, methodsOf(handle)]));
  }

  private only_(test: (field: Field) => boolean, what: string): Field | undefined {
    const [first, second] = this.fields_.filter(test);
    if (second) invalid(second.path_, `an entity has at most one ${what}`);
    return first;
  }

  nextHandle_(): number {
    return this.handles_++;
  }

  /** The attribute's handle; refuses a name that is none. */
  handle_(name: string): Handle {
    return this.byName_.get(name) ?? invalid(this.name, 'has no attribute of the name that was given');
  }

  key(values: Record<string, unknown>): { pk: string; sk: string } {
    return { pk: this.pk.of(values), sk: this.sk?.of(values) ?? '' };
  }

  text(strings: TemplateStringsArray, ...inserts: unknown[]): unknown {
    // Only the compiler makes such an array: text that was put together while running can't get here.
    if (!Array.isArray(strings) || !Array.isArray(strings.raw))
      invalid('text', 'is a tag of a template: entity.text`…`');
    const values: AttributeValue[] = [];
    const parts = inserts.map((insert) => {
      const handle = handleOf(insert);
      if (handle) {
        return handle.entity_ === this ? handle : invalid('text', 'the handle is of another entity');
      }
      const operand = operandOf(insert) ?? invalid('text', 'takes handles and typed values only: say handle.value(…)');
      values.push(operand);
      return undefined;
    });
    checkExpressionText(strings);
    return textCondition(this, { strings_: strings, inserts_: parts }, values);
  }

  /** Whether some key could be one of both entities. */
  meets_(other: EntityModel): boolean {
    const sorts = this.sk && other.sk ? this.sk.meets_(other.sk) : true;
    return sorts && this.pk.meets_(other.pk);
  }
}

/** What a key of two templates is made of, each once. */
const inputsOf = (pk: KeyTemplate, sk: KeyTemplate | undefined): Field[] => [
  ...new Set([...pk.inputs_, ...(sk?.inputs_ ?? [])]),
];

/** The model behind a public entity, of this or another copy of the package. */
export const modelOf = (value: unknown): EntityModel => {
  const version = (value as { [entityBrand]?: unknown } | null | undefined)?.[entityBrand];
  if (version === undefined) return invalid('of', 'expected an entity made by entity()');
  return version === protocol
    ? (value as EntityModel)
    : invalid('of', 'the entity was made by another version of safewrites: install one version');
};

/**
 * Declares an entity: its name is stored with every item, its key templates give the shape of its keys, and the types of
 * items, keys, conditions and updates follow from the attributes.
 *
 * @param name the discriminator; unique in a table
 * @throws InvalidInputError for a template whose values could not be told apart, an input that is no attribute or can't
 *   stand in a key, and a number in a sort key without width
 * @example
 * export const Account = entity('ACCOUNT', {
 *   pk: 'ACCOUNT#{id}', sk: 'BALANCE',
 *   attributes: { id: string(), balance: integer(), revision: version() },
 * });
 * export type Account = Item<typeof Account>;
 */
export const entity = <
  const N extends string,
  const P extends string,
  A extends Attributes,
  const S extends string = '',
  const X extends IndexDefinitions = Record<never, IndexDefinition>,
>(
  name: N,
  definition: EntityDefinition<P, S, A, X>,
): Entity<N, P, S, A, X> => new EntityModel(name, definition) as unknown as Entity<N, P, S, A, X>;
