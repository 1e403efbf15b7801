import type { KeyTemplate } from '../keys/key-template.js';
import type { Handle } from './handle.js';

/** Operations on a handle; a token of a shape is the handle's number times 32 plus one of these. */
export const Op = {
  set: 0,
  setIfNotExists: 1,
  setText: 2,
  append: 3,
  prepend: 4,
  add: 5,
  remove: 6,
  deleteFrom: 7,
  eq: 8,
  ne: 9,
  lt: 10,
  le: 11,
  gt: 12,
  ge: 13,
  between: 14,
  in: 15,
  exists: 16,
  notExists: 17,
  beginsWith: 18,
  contains: 19,
  isType: 20,
} as const;

/** Tokens that belong to no handle. `Operands - n` says that n values follow. */
export const Token = {
  Root: -1,
  Put: -2,
  Delete: -3,
  Read: -4,
  If: -10,
  And: -11,
  Or: -12,
  Not: -13,
  IfExists: -14,
  IfNotExists: -15,
  IfVersion: -16,
  IgnoreVersion: -17,
  VersionIs: -18,
  StoreKeyInputs: -19,
  IsType: -20,
  Text: -21,
  ItemExists: -22,
  ItemNotExists: -23,
  Operands: -1000,
} as const;

/** What one node of a chain adds: a handle's operation, expression text, or nothing. */
export type ShapeData = Handle | ExpressionText | undefined;

/** Text with names and values put in by position. */
export interface ExpressionText {
  readonly strings_: readonly string[];
  /** A handle is written as its path, `undefined` stands for a value. */
  readonly inserts_: readonly (Handle | undefined)[];
}

/** The texts of one shape: rendered once, shared by every command of that shape. */
export interface Rendered {
  readonly names_: Readonly<Record<string, string>> | undefined;
  readonly update_: string | undefined;
  readonly condition_: string | undefined;
  /** Index keys to compute when sent, each from the values at these positions. */
  readonly indexKeys_: readonly IndexKey[];
  /** Handles that the update writes. */
  readonly written_: ReadonlySet<Handle>;
}

/** An index key that an update recomputes. */
export interface IndexKey {
  readonly template_: KeyTemplate;
  /** Position of each written input's value; inputs that are missing here are inputs of the primary key. */
  readonly positions_: ReadonlyMap<string, number>;
}

/** Nodes of a trie that are kept: some megabytes for an entity whose chains come in every combination. */
const maximumShapes = 4096;

/**
 * One node of an entity's trie of command shapes. A chain walks it token by token, and the node where it ends keeps the
 * expression texts, so that a command that was built once is not rendered again. The trie is bounded: past the bound,
 * nodes are made and dropped, so that unbounded variety costs time, not memory.
 */
export class Shape {
  private firstToken_ = 0;
  private first_: Shape | undefined = undefined;
  private others_: Map<number, Shape> | undefined = undefined;
  rendered_: Rendered | undefined = undefined;

  private constructor(
    readonly parent_: Shape | undefined,
    readonly token_: number,
    readonly data_: ShapeData,
    private readonly kept_: boolean,
    /** Counted down by all nodes of the trie. */
    private readonly budget_: { left: number },
  ) {}

  static root_(): Shape {
    return new Shape(undefined, Token.Root, undefined, true, { left: maximumShapes });
  }

  /** The node after this one. `keep` is false for what has no bounded number of forms. */
  step_(token: number, data: ShapeData = undefined, keep = true): Shape {
    if (!keep || !this.kept_) return new Shape(this, token, data, false, this.budget_);
    if (this.first_ !== undefined && this.firstToken_ === token) return this.first_;
    return this.others_?.get(token) ?? this.grow_(token, data);
  }

  private grow_(token: number, data: ShapeData): Shape {
    const { budget_: budget } = this;
    if (budget.left === 0) return new Shape(this, token, data, false, budget);
    budget.left--;
    const next = new Shape(this, token, data, true, budget);
    if (this.first_ === undefined) {
      this.firstToken_ = token;
      this.first_ = next;
    } else (this.others_ ??= new Map<number, Shape>()).set(token, next);
    return next;
  }
}

/** The nodes from below the root to a leaf. */
export const nodesTo = (leaf: Shape): Shape[] => {
  const nodes: Shape[] = [];
  for (let node = leaf; node.parent_ !== undefined; node = node.parent_) nodes.push(node);
  return nodes.reverse();
};
