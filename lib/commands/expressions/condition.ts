import type { AttributeValue } from '../attributes/attribute-value.js';
import { invalid } from '../errors/errors.js';
import type { Handle } from './handle.js';
import { isText, type ExpressionText, type Shape, type ShapeData } from './shape.js';
import * as Token from './token.js';

/** A condition on the items of one entity; `N` is the entity's name. */
export interface Condition<out N> {
  readonly '~n': N;
  /** Both hold; each side is parenthesised. */
  and(other: Condition<N>): Condition<N>;
  /** Either holds; each side is parenthesised. */
  or(other: Condition<N>): Condition<N>;
  /** It does not hold (`NOT`). */
  negate(): Condition<N>;
}

const conditionBrand = Symbol.for('safewrites.condition');

/** Where a chain stands: its shape and the values written so far. */
export interface Cursor {
  shape_: Shape;
  readonly values_: AttributeValue[];
  /** The version that an update's clause sets. */
  setsVersion_?: number;
}

/** The run-time half of {@link Condition}: a tree that writes itself into a shape. */
export class ConditionNode {
  get [conditionBrand](): 1 {
    return 1;
  }
  constructor(
    readonly entity_: object,
    readonly token_: number,
    readonly data_: ShapeData,
    readonly values_: readonly AttributeValue[],
    readonly left_?: ConditionNode,
    readonly right_?: ConditionNode,
  ) {}

  and(other: unknown): ConditionNode {
    return this.join_(Token.And, conditionOf(other, this.entity_));
  }
  or(other: unknown): ConditionNode {
    return this.join_(Token.Or, conditionOf(other, this.entity_));
  }
  negate(): ConditionNode {
    return this.join_(Token.Not);
  }
  private join_(token: number, other?: ConditionNode): ConditionNode {
    return new ConditionNode(this.entity_, token, undefined, [], this, other);
  }

  /** The handles that it looks at. */
  handles_(): Handle[] {
    const { data_: data, left_: left, right_: right } = this;
    const own = !data ? [] : isText(data) ? data.inserts_.filter((insert) => insert !== undefined) : [data];
    return left ? [...left.handles_(), ...(right?.handles_() ?? [])] : own;
  }

  /** Whether it asks if the item itself exists. */
  asksForItem_(): boolean {
    const { token_: token, left_: left, right_: right } = this;
    const own = token === Token.ItemExists || token === Token.ItemNotExists;
    return own || left?.asksForItem_() === true || right?.asksForItem_() === true;
  }

  write_(at: Cursor): void {
    const { data_: data } = this;
    const keep = this.token_ !== Token.Text && (data === undefined || isText(data) || data.kept_);
    at.shape_ = at.shape_.step_(this.token_, data, keep);
    if (this.token_ % 32 === 15 && this.token_ >= 0) at.shape_ = at.shape_.step_(Token.Operands - this.values_.length);
    for (const value of this.values_) at.values_.push(value);
    this.left_?.write_(at);
    this.right_?.write_(at);
  }
}

/** Tells conditions of any copy of the package from values. */
export const isCondition = (value: unknown): value is ConditionNode =>
  typeof value === 'object' && value !== null && conditionBrand in value;

/** A condition that belongs to the entity; refuses anything else. */
export const conditionOf = (value: unknown, entity: object): ConditionNode => {
  if (!isCondition(value)) return invalid('if', 'expected a condition, such as Order.attrs.total.gt(0)');
  return value.entity_ === entity ? value : invalid('if', 'the condition is of another entity');
};

/** A condition given as expression text. */
export const textCondition = (entity: object, text: ExpressionText, values: readonly AttributeValue[]): ConditionNode =>
  new ConditionNode(entity, Token.Text, text, values);
