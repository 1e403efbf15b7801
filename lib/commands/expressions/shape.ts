import type { KeyTemplate } from '../keys/key-template.js';
import type { Handle } from './handle.js';
import * as Token from './token.js';

/** What one node of a chain adds: a handle's operation, expression text, or nothing. */
export type ShapeData = Handle | ExpressionText | undefined;

/** Text with names and values put in by position. */
export interface ExpressionText {
  readonly strings_: readonly string[];
  /** A handle is written as its path, `undefined` stands for a value. */
  readonly inserts_: readonly (Handle | undefined)[];
}

/** Asks for the member, whose name in quotes is not the one that is shipped. */
export const isText = (data: Handle | ExpressionText): data is ExpressionText =>
  (data as Partial<ExpressionText>).strings_ !== undefined;

/** The texts of one shape: rendered once, shared by every command of that shape. */
export interface Rendered {
  readonly names_: Readonly<Record<string, string>> | undefined;
  readonly update_: string | undefined;
  readonly condition_: string | undefined;
  /** Index keys to compute when sent, each from the values at these positions. */
  readonly indexKeys_: readonly IndexKey[];
  /** Positions of the values that the item holds after the update, whatever it held before. */
  readonly kept_: readonly number[];
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
    if (this.first_ && this.firstToken_ === token) return this.first_;
    return this.others_?.get(token) ?? this.grow_(token, data);
  }

  private grow_(token: number, data: ShapeData): Shape {
    const { budget_: budget } = this;
    if (budget.left === 0) return new Shape(this, token, data, false, budget);
    budget.left--;
    const next = new Shape(this, token, data, true, budget);
    if (!this.first_) {
      this.firstToken_ = token;
      this.first_ = next;
    } else (this.others_ ??= new Map<number, Shape>()).set(token, next);
    return next;
  }
}

/** The nodes from below the root to a leaf. */
export const nodesTo = (leaf: Shape): Shape[] => {
  const nodes: Shape[] = [];
  for (let node = leaf; node.parent_; node = node.parent_) nodes.push(node);
  return nodes.reverse();
};
