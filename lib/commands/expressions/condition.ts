import type { AttributeValue } from '../attributes/attribute-value.js';
import { invalid } from '../errors/errors.js';
import type { Handle } from './handle.js';
import { Token, type ExpressionText, type Shape, type ShapeData } from './shape.js';

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
  shape: Shape;
  readonly values: AttributeValue[];
}

/** The run-time half of {@link Condition}: a tree that writes itself into a shape. */
export class ConditionNode {
  readonly [conditionBrand] = 1;
  constructor(
    readonly entity: object,
    readonly token: number,
    readonly data: ShapeData,
    readonly values: readonly AttributeValue[],
    readonly left?: ConditionNode,
    readonly right?: ConditionNode,
  ) {}

  and(other: unknown): ConditionNode {
    return this.join(Token.And, conditionOf(other, this.entity));
  }
  or(other: unknown): ConditionNode {
    return this.join(Token.Or, conditionOf(other, this.entity));
  }
  negate(): ConditionNode {
    return this.join(Token.Not);
  }
  private join(token: number, other?: ConditionNode): ConditionNode {
    return new ConditionNode(this.entity, token, undefined, [], this, other);
  }

  /** The handles that it looks at. */
  handles(): Handle[] {
    const { data, left, right } = this;
    const own =
      data === undefined ? [] : 'inserts' in data ? data.inserts.filter((insert) => insert !== undefined) : [data];
    return [...own, ...(left?.handles() ?? []), ...(right?.handles() ?? [])];
  }

  /** Whether it asks if the item itself exists. */
  asksForItem(): boolean {
    const { token, left, right } = this;
    const own = token === Token.ItemExists || token === Token.ItemNotExists;
    return own || left?.asksForItem() === true || right?.asksForItem() === true;
  }

  write(at: Cursor): void {
    const { data } = this;
    const keep = this.token !== Token.Text && (data === undefined || 'strings' in data || data.kept);
    at.shape = at.shape.step(this.token, data, keep);
    if (this.token % 32 === 15 && this.token >= 0) at.shape = at.shape.step(Token.Operands - this.values.length);
    for (const value of this.values) at.values.push(value);
    this.left?.write(at);
    this.right?.write(at);
  }
}

/** Tells conditions of any copy of the package from values. */
export const isCondition = (value: unknown): value is ConditionNode =>
  typeof value === 'object' && value !== null && conditionBrand in value;

/** A condition that belongs to the entity; refuses anything else. */
export const conditionOf = (value: unknown, entity: object): ConditionNode => {
  if (!isCondition(value)) return invalid('if', 'expected a condition, such as Order.attrs.total.gt(0)');
  return value.entity === entity ? value : invalid('if', 'the condition is of another entity');
};

/** A condition given as expression text. */
export const textCondition = (entity: object, text: ExpressionText, values: readonly AttributeValue[]): ConditionNode =>
  new ConditionNode(entity, Token.Text, text, values);
