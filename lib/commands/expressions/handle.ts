import type { AttributeValue, Decode, Encode } from '../attributes/attribute-value.js';
import type { AnyAttribute, AttributeBuilder, Kind } from '../attributes/attribute.js';
import { invalid } from '../errors/errors.js';
import { checkText } from '../attributes/text.js';
import { ConditionNode, type Condition } from './condition.js';
import * as Op from './op.js';
import * as Token from './token.js';

/** What a clause needs of a handle: comparing these few members is cheap, comparing all methods is not. */
export interface HandleRef<out N, out V> {
  readonly '~n': N;
  readonly '~v': V;
}

/** What a read needs of a handle; `R` is what it gives: the value, or undefined where it may be absent. */
export interface ReadableRef<out N, out R> {
  readonly '~n': N;
  readonly '~x': R;
}

/**
 * A handle on one attribute of an entity; `N` is the entity's name, `V` the attribute's value, `R` what reading it gives.
 */
export interface AttributeHandle<in out N, in out V, out R = V | undefined>
  extends Comparisons<N, V>, HandleRef<N, V>, ReadableRef<N, R> {
  /** The attribute is stored, whatever its value. */
  exists(): Condition<N>;
  /** The attribute, or the item, is absent. */
  notExists(): Condition<N>;
  /** Absent, or less than the value: what an event's version must meet (seeds/000, Events that arrive out of order). */
  notExistsOrLt(value: V): Condition<N>;
  /** Absent, or at most the value: writes a duplicate again, so it can't tell one from an applied event. */
  notExistsOrLe(value: V): Condition<N>;
  /** The stored type is this one (`attribute_type`). */
  isType(type: 'S' | 'N' | 'B' | 'BOOL' | 'NULL' | 'M' | 'L' | 'SS' | 'NS' | 'BS'): Condition<N>;
  /** A value for expression text, encoded as this attribute is. */
  value(value: V): TypedValue;
}

/** Comparisons of an attribute, or of its size. */
export interface Comparisons<in out N, in V> {
  readonly '~n': N;
  eq(value: V): Condition<N>;
  ne(value: V): Condition<N>;
  lt(value: V): Condition<N>;
  le(value: V): Condition<N>;
  gt(value: V): Condition<N>;
  ge(value: V): Condition<N>;
  /** From low to high, both included. */
  between(low: V, high: V): Condition<N>;
  /** One of at most 100 values. */
  in(...values: readonly V[]): Condition<N>;
}

/** Marks handles that an update may write: not an input of the primary key. */
export interface Writable {
  readonly '~w': true;
}

/** A value with its encoding, for expression text. */
export interface TypedValue {
  readonly '~t': true;
}

export interface ValueHandle<in out N, in out V, out R = V | undefined> extends AttributeHandle<N, V, R>, Writable {}
export interface TextHandle<in out N, in out V, out R = V | undefined> extends ValueHandle<N, V, R> {
  beginsWith(prefix: string): Condition<N>;
  contains(part: string): Condition<N>;
  /** Its size in bytes. */
  size(): Comparisons<N, number>;
}
export interface NumberHandle<in out N, in out V, out R = V | undefined> extends ValueHandle<N, V, R> {
  readonly '~a': V;
}
export interface SetHandle<in out N, in out V, out R = V | undefined> extends ValueHandle<N, V, R> {
  readonly '~e': V;
  /** The set holds the element; a missing set holds nothing. */
  contains(element: V extends ReadonlySet<infer U> ? U : never): Condition<N>;
  /** Its number of elements. */
  size(): Comparisons<N, number>;
}
export interface ListHandle<in out N, in out V, M, out R = V | undefined> extends ValueHandle<N, V, R> {
  readonly '~l': V;
  at(index: number): HandleOf<N, M & AnyAttribute, undefined>;
  /** Its number of elements. */
  size(): Comparisons<N, number>;
}
export interface RecordHandle<in out N, in out V, M, out R = V | undefined> extends ValueHandle<N, V, R> {
  at(name: string): HandleOf<N, M & AnyAttribute, undefined>;
  size(): Comparisons<N, number>;
}
export interface MapHandle<in out N, in out V, M, out R = V | undefined, P = undefined> extends ValueHandle<N, V, R> {
  /** A member whose name clashes with a handle's own method, such as `at('eq')`. */
  at<K extends keyof M>(name: K): HandleOf<N, M[K] & AnyAttribute, P>;
  size(): Comparisons<N, number>;
}

/**
 * Looked up by kind, not inferred: a conditional type per attribute would cost with every entity. `P` is `undefined` where
 * what is around the attribute may be absent; so is `~o` of an optional one, once it is intersected with it.
 */
interface HandleKinds<N, A extends AnyAttribute, P, R = A['~v'] | (A['~o'] & undefined) | P> {
  value: ValueHandle<N, A['~v'], R>;
  text: TextHandle<N, A['~v'], R>;
  number: NumberHandle<N, A['~v'], R>;
  bigint: NumberHandle<N, A['~v'], R>;
  decimal: NumberHandle<N, A['~v'], R>;
  version: ValueHandle<N, A['~v'], R>;
  set: SetHandle<N, A['~v'], R>;
  list: ListHandle<N, A['~v'], A['~m'], R>;
  record: RecordHandle<N, A['~v'], A['~m'], R>;
  map: MapHandle<N, A['~v'], A['~m'], R, (A['~o'] & undefined) | P> & MembersOf<N, A['~m'], (A['~o'] & undefined) | P>;
}
export type HandleOf<N, A extends AnyAttribute, P = never> = HandleKinds<N, A, P>[A['~k']];
/** A name that a handle's own method has is left to `at(name)`. */
type MembersOf<N, M, P> = {
  readonly [K in Exclude<keyof M, keyof MapHandle<unknown, unknown, unknown>>]: HandleOf<N, M[K] & AnyAttribute, P>;
};

/** List elements and record members beyond this get handles that are not kept. */
const maximumKept = 64;

/** A name or a list index. */
export type Step = string | number;

const handleBrand = Symbol.for('safewrites.handle');
const valueBrand = Symbol.for('safewrites.value');

/** A value that `handle.value(…)` encoded, for expression text. */
interface TypedOperand {
  readonly [valueBrand]: AttributeValue;
}

/**
 * The run-time half of the handles: where an attribute is in its item, and how it is encoded. Callers hold it behind an
 * `AttributeMethods`, so that a member named `path` or `number` clashes with nothing here.
 */
export class Handle {
  get [handleBrand](): 1 {
    return 1;
  }
  /** Tells it apart in tokens. */
  readonly number_: number;
  /** The item's member this is inside of. */
  readonly top_: Handle | undefined;
  readonly encode_: Encode;
  readonly decode_: Decode;
  /** What callers hold for it, made when first asked for. */
  methods_: unknown = undefined;
  private readonly members_ = new Map<Step, Handle>();
  private measured_: Handle | undefined = undefined;

  constructor(
    /** Counts the handles of the entity, for tokens. */
    readonly entity_: { nextHandle_(): number },
    readonly attribute_: AttributeBuilder,
    readonly path_: string,
    /** Stored names and indexes from the item down; the first is the table's to name where it is the time to live. */
    readonly steps_: readonly Step[],
    /** What it is a member or element of; the item's own have none. */
    readonly parent_: Handle | undefined,
    /** False for an input of the primary key. */
    readonly writable_: boolean,
    /** Whether shapes may be kept for it: false past a bound of list indexes and record names. */
    readonly kept_: boolean,
    /** Its name, or index, in what it is a member of. */
    readonly member_: Step,
    codec: readonly [Encode, Decode] = attribute_.make_(path_),
    readonly measuresSize_ = false,
  ) {
    [this.encode_, this.decode_] = codec;
    this.top_ = parent_ ? (parent_.top_ ?? parent_) : undefined;
    this.number_ = entity_.nextHandle_();
  }

  at(step: Step): Handle {
    let member = this.members_.get(step);
    if (member) return member;
    const { kind_: kind, of_: of } = this.attribute_.traits_;
    let attribute: AttributeBuilder | undefined;
    let stored: Step = step;
    if (kind === 'list' && typeof step === 'number' && Number.isSafeInteger(step) && step >= 0) {
      attribute = of as AttributeBuilder;
    } else if (
      kind === 'record' &&
      typeof step === 'string' &&
      step !== '' &&
      step !== '__proto__' &&
      step.isWellFormed()
    ) {
      attribute = of as AttributeBuilder;
    } else if (kind === 'map' && typeof step === 'string' && Object.hasOwn(of as object, step)) {
      attribute = (of as Record<string, AttributeBuilder>)[step];
      stored = attribute?.traits_.savedAs_ ?? step;
    }
    if (!attribute) return invalid(this.path_, 'has no such member: at() takes a list index, or a member of the map');
    // A record's names are the user's data, so errors name the record only.
    const path = kind === 'list' ? `${this.path_}[]` : kind === 'record' ? `${this.path_}{}` : `${this.path_}.${step}`;
    const kept = this.kept_ && (kind === 'map' || this.members_.size < maximumKept);
    member = new Handle(this.entity_, attribute, path, [...this.steps_, stored], this, this.writable_, kept, step);
    if (kept) this.members_.set(step, member);
    return member;
  }

  /** The handle on how large it is, which compares with whole numbers and can't be written. */
  size(): Handle {
    if (this.measured_) return this.measured_;
    const count: Encode = (value) =>
      Number.isSafeInteger(value)
        ? { N: String(value) }
        : invalid(this.path_, 'a size is compared with a whole number');
    const { entity_: entity, attribute_: attribute, path_: path, steps_: steps, kept_: kept } = this;
    const codec = [count, this.decode_] as const;
    return (this.measured_ = new Handle(entity, attribute, path, steps, this, false, kept, 'size', codec, true));
  }

  /** The value encoded; an empty set has no form that an expression could hold. */
  operand_(value: unknown): AttributeValue {
    return this.encode_(value) ?? invalid(this.path_, 'an empty set can not be compared: use notExists()');
  }

  private compare_(op: number, value: unknown): ConditionNode {
    return this.plain_(op, this.operand_(value));
  }
  private plain_(op: number, ...values: AttributeValue[]): ConditionNode {
    return new ConditionNode(this.entity_, this.number_ * 32 + op, this, values);
  }

  eq(value: unknown): ConditionNode {
    return this.compare_(Op.eq, value);
  }
  ne(value: unknown): ConditionNode {
    return this.compare_(Op.ne, value);
  }
  lt(value: unknown): ConditionNode {
    return this.compare_(Op.lt, value);
  }
  le(value: unknown): ConditionNode {
    return this.compare_(Op.le, value);
  }
  gt(value: unknown): ConditionNode {
    return this.compare_(Op.gt, value);
  }
  ge(value: unknown): ConditionNode {
    return this.compare_(Op.ge, value);
  }
  between(low: unknown, high: unknown): ConditionNode {
    const from = this.operand_(low);
    const to = this.operand_(high);
    // DynamoDB would refuse it with both values in its message.
    return isAbove(from, to)
      ? invalid(this.path_, 'between() takes the lower value first')
      : this.plain_(Op.between, from, to);
  }
  in(...values: unknown[]): ConditionNode {
    if (values.length === 0 || values.length > 100) return invalid(this.path_, 'in() takes 1 to 100 values');
    return this.plain_(Op.isIn, ...values.map((value) => this.operand_(value)));
  }
  exists(): ConditionNode {
    return this.isKeyInput_ ? new ConditionNode(this.entity_, Token.ItemExists, undefined, []) : this.plain_(Op.exists);
  }
  notExists(): ConditionNode {
    if (this.isKeyInput_) return new ConditionNode(this.entity_, Token.ItemNotExists, undefined, []);
    return this.plain_(Op.notExists);
  }
  /** An input of the primary key is there when its item is, also where an update created it and stored no inputs. */
  private get isKeyInput_(): boolean {
    return !this.writable_ && !this.measuresSize_ && this.parent_ === undefined;
  }
  notExistsOrLt(value: unknown): ConditionNode {
    return this.notExists().or(this.lt(value));
  }
  notExistsOrLe(value: unknown): ConditionNode {
    return this.notExists().or(this.le(value));
  }
  beginsWith(prefix: unknown): ConditionNode {
    return this.plain_(Op.beginsWith, this.text_(prefix));
  }
  contains(element: unknown): ConditionNode {
    return this.plain_(
      Op.contains,
      this.attribute_.traits_.kind_ === 'set' ? this.element_(element) : this.text_(element),
    );
  }
  isType(type: string): ConditionNode {
    if (!types.has(type)) return invalid(this.path_, 'isType() takes one of S, N, B, BOOL, NULL, M, L, SS, NS, BS');
    return this.plain_(Op.isType, { S: type });
  }
  value(value: unknown): TypedOperand {
    return { [valueBrand]: this.operand_(value) };
  }

  private text_(value: unknown): AttributeValue {
    return { S: checkText(value, this.path_) };
  }
  /** One element of a set, encoded as the set's elements are. */
  private element_(value: unknown): AttributeValue {
    const make = this.attribute_.traits_.element_;
    return make?.(`${this.path_}[]`)[0](value) ?? invalid(this.path_, 'is no set');
  }
}

const types: ReadonlySet<unknown> = new Set(['S', 'N', 'B', 'BOOL', 'NULL', 'M', 'L', 'SS', 'NS', 'BS']);

/** Whether one value is surely above the other, in DynamoDB's order. */
const isAbove = (a: AttributeValue, b: AttributeValue): boolean => {
  if (a.N !== undefined && b.N !== undefined) return Number(a.N) > Number(b.N);
  const bytes = ({ S, B }: AttributeValue): Uint8Array | undefined => (S === undefined ? B : Buffer.from(S));
  const [x, y] = [bytes(a), bytes(b)];
  return x !== undefined && y !== undefined && Buffer.compare(x, y) > 0;
};

/** Tells handles of any copy of the package from other data of a shape. */
export const isHandle = (value: unknown): value is Handle =>
  typeof value === 'object' && value !== null && handleBrand in value;

/** The encoded value behind what `handle.value(…)` gave; by symbol, so that no parsed JSON is one. */
export const operandOf = (value: unknown): AttributeValue | undefined =>
  typeof value === 'object' && value !== null ? (value as Partial<TypedOperand>)[valueBrand] : undefined;

/** The kinds that ADD takes, beside sets. */
export const isNumeric = (kind: Kind): boolean => kind === 'number' || kind === 'bigint' || kind === 'decimal';
