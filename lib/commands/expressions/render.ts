import type { Field } from '../attributes/fields.js';
import type { CompiledEntity, StoredKey } from '../entity/compiled.js';
import { LimitExceededError, invalid } from '../errors/errors.js';
import { isHandle, type Handle } from './handle.js';
import { Op, Token, nodesTo, type ExpressionText, type IndexKey, type Rendered, type Shape } from './shape.js';

/** The placeholder of the n-th value. */
export const placeholder = (n: number): string => `:${n}`;

const comparisons: Record<number, string> = {
  [Op.eq]: '=',
  [Op.ne]: '<>',
  [Op.lt]: '<',
  [Op.le]: '<=',
  [Op.gt]: '>',
  [Op.ge]: '>=',
};

/**
 * Whether the whole text is inside one pair of parentheses: DynamoDB refuses redundant ones. Expressions hold no text
 * literals, so counting is enough.
 */
const isParenthesised = (text: string): boolean => {
  if (!text.startsWith('(')) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')' && --depth === 0) return i === text.length - 1;
  }
  return false;
};

/** A clause that is joined to others; parentheses that it has already are not doubled. */
export const parenthesise = (text: string): string => (isParenthesised(text.trim()) ? text : `(${text})`);

/** Runs once per shape: the tokens of a chain become its expression texts and the names that they share. */
class Renderer {
  private readonly names_: Record<string, string> = {};
  private readonly aliases_ = new Map<string, string>();
  private readonly nodes_: Shape[];
  private at_ = 0;
  private value_ = 0;
  private readonly set_: string[] = [];
  private readonly add_: string[] = [];
  private readonly remove_: string[] = [];
  private readonly deleteFrom_: string[] = [];
  private readonly conditions_: string[] = [];
  private readonly written_ = new Set<Handle>();
  /** Where an update sets a whole top-level attribute: the value's position, or undefined where it has none. */
  private readonly settings_ = new Map<string, number | undefined>();

  constructor(
    private readonly entity_: CompiledEntity,
    leaf: Shape,
    private readonly isUpdate_: boolean,
  ) {
    this.nodes_ = nodesTo(leaf);
  }

  private name_(stored: string): string {
    let alias = this.aliases_.get(stored);
    if (alias === undefined) {
      alias = `#${this.aliases_.size}`;
      this.aliases_.set(stored, alias);
      this.names_[alias] = stored;
    }
    return alias;
  }

  private path_(handle: Handle): string {
    let text = '';
    handle.steps_.forEach((step, i) => {
      if (typeof step === 'number') text += `[${step}]`;
      else {
        const { attribute_: attribute } = handle.top_ ?? handle;
        const stored = i === 0 ? this.entity_.storedName_({ attribute_: attribute, stored_: step }) : step;
        text += (i === 0 ? '' : '.') + this.name_(stored);
      }
    });
    return handle.measuresSize_ ? `size(${text})` : text;
  }

  private next_(): string {
    return placeholder(this.value_++);
  }

  private text_({ strings_: strings, inserts_: inserts }: ExpressionText): string {
    return strings.reduce((text, part, i) => {
      const insert = inserts[i - 1];
      return text + (insert === undefined ? this.next_() : this.path_(insert)) + part;
    });
  }

  private condition_(): string {
    const node = this.nodes_[this.at_++] as Shape;
    const { token_: token, data_: data } = node;
    if (token === Token.And || token === Token.Or) {
      const left = this.side_(token);
      return `${left} ${token === Token.And ? 'AND' : 'OR'} ${this.side_(token)}`;
    }
    if (token === Token.Not) return `NOT ${parenthesise(this.condition_())}`;
    if (token === Token.Text) return this.text_(data as ExpressionText);
    if (token === Token.ItemExists) return this.itemExists_();
    if (token === Token.ItemNotExists) return this.itemNotExists_();
    const path = this.path_(data as Handle);
    const operation = token % 32;
    const comparison = comparisons[operation];
    if (comparison !== undefined) return `${path} ${comparison} ${this.next_()}`;
    switch (operation) {
      case Op.between:
        return `${path} BETWEEN ${this.next_()} AND ${this.next_()}`;
      case Op.in: {
        const count = Token.Operands - (this.nodes_[this.at_++] as Shape).token_;
        return `${path} IN (${Array.from({ length: count }, () => this.next_()).join(', ')})`;
      }
      case Op.exists:
        return `attribute_exists(${path})`;
      case Op.notExists:
        return `attribute_not_exists(${path})`;
      case Op.beginsWith:
        return `begins_with(${path}, ${this.next_()})`;
      case Op.contains:
        return `contains(${path}, ${this.next_()})`;
      default:
        return `attribute_type(${path}, ${this.next_()})`;
    }
  }

  /** A side of AND or OR; a chain of one of them needs no parentheses around itself. */
  private side_(joinedBy: number): string {
    const { token_: token } = this.nodes_[this.at_] as Shape;
    const text = this.condition_();
    return token === joinedBy ? text : parenthesise(text);
  }

  private itemExists_(): string {
    return `attribute_exists(${this.name_(this.entity_.naming_.pk)})`;
  }

  private itemNotExists_(): string {
    return `attribute_not_exists(${this.name_(this.entity_.naming_.pk)})`;
  }

  private action_(handle: Handle, operation: number): void {
    const position = this.value_;
    const path = this.path_(handle);
    if (handle.top_ === undefined) {
      this.written_.add(handle);
      this.settings_.set(handle.path_, operation === Op.set ? position : undefined);
    }
    switch (operation) {
      case Op.set:
        this.set_.push(`${path} = ${this.next_()}`);
        break;
      case Op.setIfNotExists:
        this.set_.push(`${path} = if_not_exists(${path}, ${this.next_()})`);
        break;
      case Op.append:
        this.set_.push(`${path} = list_append(if_not_exists(${path}, ${this.next_()}), ${this.next_()})`);
        break;
      case Op.prepend:
        this.set_.push(`${path} = list_append(${this.next_()}, if_not_exists(${path}, ${this.next_()}))`);
        break;
      case Op.setText:
        this.set_.push(`${path} = ${this.text_((this.nodes_[this.at_++] as Shape).data_ as ExpressionText)}`);
        break;
      case Op.add:
        this.add_.push(`${path} ${this.next_()}`);
        break;
      case Op.deleteFrom:
        this.deleteFrom_.push(`${path} ${this.next_()}`);
        break;
      case Op.remove:
        this.remove_.push(path);
        break;
    }
  }

  /** A condition without values, which a clause and a version may both ask for. */
  private require_(condition: string): void {
    if (!this.conditions_.includes(condition)) this.conditions_.push(condition);
  }

  private structural_(token: number): void {
    const { naming_: naming, model_: model } = this.entity_;
    const version = (): string => this.name_(this.entity_.storedName_(model.version_ as Field));
    const setsVersion = (): boolean => model.version_ !== undefined && this.settings_.has(model.version_.path_);
    switch (token) {
      case Token.If:
        this.conditions_.push(this.condition_());
        break;
      case Token.IfExists:
        this.require_(`attribute_exists(${this.name_(naming.pk)})`);
        break;
      case Token.IfNotExists:
        this.require_(`attribute_not_exists(${this.name_(naming.pk)})`);
        break;
      case Token.VersionIs:
        this.conditions_.push(`${version()} = ${this.next_()}`);
        break;
      case Token.IfVersion: {
        // The version's own tokens come last, so that a version set by the caller is known here.
        this.conditions_.push(`${version()} = ${this.next_()}`);
        if (!setsVersion()) this.set_.push(`${version()} = ${this.next_()}`);
        break;
      }
      case Token.IgnoreVersion:
        if (!setsVersion())
          this.set_.push(`${version()} = if_not_exists(${version()}, ${this.next_()}) + ${this.next_()}`);
        break;
      case Token.StoreKeyInputs:
        for (const field of model.keyInputs_) this.set_.push(`${this.name_(field.stored_)} = ${this.next_()}`);
        break;
      case Token.IsType:
        this.conditions_.push(`${this.name_(naming.type)} = ${this.next_()}`);
        break;
    }
  }

  /** An index key follows its inputs; one that can't be computed from what the update names would go stale. */
  private indexKeys_(): IndexKey[] {
    const { model_: model } = this.entity_;
    const keys: IndexKey[] = [];
    const compute = ({ template_: template }: StoredKey): string => {
      const positions = template.inputs_.flatMap(({ path_: path, name_: name }) => {
        const position = this.settings_.get(path);
        return position === undefined ? [] : [[name, position] as const];
      });
      keys.push({ template_: template, positions_: new Map(positions) });
      return this.next_();
    };
    for (const { index, keys: stored } of this.entity_.indexKeys_) {
      const inputs = [...index.pk.inputs_, ...(index.sk?.inputs_ ?? [])];
      const given = (field: Field): boolean => model.keyInputs_.some((key) => key.name_ === field.name_);
      const touched = inputs.filter((field) => this.settings_.has(field.path_));
      if (touched.length === 0) {
        // The key alone says it, and an item that the update creates has to be in the index.
        if (!inputs.every(given)) continue;
        for (const key of stored) {
          const name = this.name_(key.name_);
          this.set_.push(`${name} = if_not_exists(${name}, ${compute(key)})`);
        }
        continue;
      }
      if (touched.some((field) => this.isRemoved_(field.path_))) {
        for (const key of stored) this.remove_.push(this.name_(key.name_));
        continue;
      }
      const missing = inputs.find((field) => this.settings_.get(field.path_) === undefined && !given(field));
      if (missing !== undefined) {
        invalid(
          missing.path_,
          `set it to a value too: the key of the index ${index.name_} is made of ${inputs.map((field) => field.path_).join(', ')}, and would go stale`,
        );
      }
      for (const key of stored) this.set_.push(`${this.name_(key.name_)} = ${compute(key)}`);
    }
    return keys;
  }

  private isRemoved_(path: string): boolean {
    return this.nodes_.some(
      ({ token_: token, data_: data }) =>
        token >= 0 && token % 32 === Op.remove && isHandle(data) && data.top_ === undefined && data.path_ === path,
    );
  }

  render(): Rendered {
    if (this.isUpdate_) {
      const type = this.name_(this.entity_.naming_.type);
      this.set_.push(`${type} = if_not_exists(${type}, ${this.next_()})`);
    }
    while (this.at_ < this.nodes_.length) {
      const { token_: token, data_: data } = this.nodes_[this.at_++] as Shape;
      if (token >= 0) this.action_(data as Handle, token % 32);
      else this.structural_(token);
    }
    const indexKeys = this.isUpdate_ ? this.indexKeys_() : [];
    refuseOverlaps(this.nodes_);
    const sections = [
      ['SET', this.set_],
      ['REMOVE', this.remove_],
      ['ADD', this.add_],
      ['DELETE', this.deleteFrom_],
    ] as const;
    const update = sections
      .flatMap(([word, actions]) => (actions.length === 0 ? [] : `${word} ${actions.join(', ')}`))
      .join(' ');
    const [only] = this.conditions_;
    const condition = this.conditions_.length > 1 ? this.conditions_.map(parenthesise).join(' AND ') : only;
    for (const text of [update, condition]) {
      if (text !== undefined && text.length > 4096) {
        throw new LimitExceededError(
          this.entity_.model_.name,
          `an expression of ${text.length} bytes is longer than DynamoDB's 4096`,
        );
      }
    }
    return {
      names_: this.aliases_.size === 0 ? undefined : Object.freeze(this.names_),
      update_: update === '' ? undefined : update,
      condition_: condition,
      indexKeys_: indexKeys,
      written_: this.written_,
    };
  }
}

/** Two actions on one path, or on a path and one inside it, are refused by DynamoDB; here with the attribute's name. */
const refuseOverlaps = (nodes: readonly Shape[]): void => {
  const paths: string[] = [];
  nodes.forEach(({ token_: token, data_: data }) => {
    if (token < 0 || token % 32 > Op.deleteFrom || !isHandle(data)) return;
    const path = `${JSON.stringify(data.steps_).slice(0, -1)},`;
    if (paths.some((other) => path.startsWith(other) || other.startsWith(path))) {
      invalid(data.path_, 'an update has two actions on this path, or on one inside the other');
    }
    paths.push(path);
  });
};

/** The texts of a shape, rendered the first time. */
export const render = (entity: CompiledEntity, leaf: Shape, isUpdate: boolean): Rendered =>
  (leaf.rendered_ ??= new Renderer(entity, leaf, isUpdate).render());
