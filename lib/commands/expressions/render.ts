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
  private readonly names: Record<string, string> = {};
  private readonly aliases = new Map<string, string>();
  private readonly nodes: Shape[];
  private at = 0;
  private value = 0;
  private readonly set: string[] = [];
  private readonly add: string[] = [];
  private readonly remove: string[] = [];
  private readonly deleteFrom: string[] = [];
  private readonly conditions: string[] = [];
  private readonly written = new Set<Handle>();
  /** Where an update sets a whole top-level attribute: the value's position, or undefined where it has none. */
  private readonly settings = new Map<string, number | undefined>();

  constructor(
    private readonly entity: CompiledEntity,
    leaf: Shape,
    private readonly isUpdate: boolean,
  ) {
    this.nodes = nodesTo(leaf);
  }

  private name(stored: string): string {
    let alias = this.aliases.get(stored);
    if (alias === undefined) {
      alias = `#${this.aliases.size}`;
      this.aliases.set(stored, alias);
      this.names[alias] = stored;
    }
    return alias;
  }

  private path(handle: Handle): string {
    let text = '';
    handle.steps.forEach((step, i) => {
      if (typeof step === 'number') text += `[${step}]`;
      else {
        const { attribute } = handle.top ?? handle;
        const stored = i === 0 ? this.entity.storedName({ attribute, stored: step }) : step;
        text += (i === 0 ? '' : '.') + this.name(stored);
      }
    });
    return handle.measuresSize ? `size(${text})` : text;
  }

  private next(): string {
    return placeholder(this.value++);
  }

  private text({ strings, inserts }: ExpressionText): string {
    return strings.reduce((text, part, i) => {
      const insert = inserts[i - 1];
      return text + (insert === undefined ? this.next() : this.path(insert)) + part;
    });
  }

  private condition(): string {
    const node = this.nodes[this.at++] as Shape;
    const { token, data } = node;
    if (token === Token.And || token === Token.Or) {
      const left = this.side(token);
      return `${left} ${token === Token.And ? 'AND' : 'OR'} ${this.side(token)}`;
    }
    if (token === Token.Not) return `NOT ${parenthesise(this.condition())}`;
    if (token === Token.Text) return this.text(data as ExpressionText);
    if (token === Token.ItemExists) return this.itemExists();
    if (token === Token.ItemNotExists) return this.itemNotExists();
    const path = this.path(data as Handle);
    const operation = token % 32;
    const comparison = comparisons[operation];
    if (comparison !== undefined) return `${path} ${comparison} ${this.next()}`;
    switch (operation) {
      case Op.between:
        return `${path} BETWEEN ${this.next()} AND ${this.next()}`;
      case Op.in: {
        const count = Token.Operands - (this.nodes[this.at++] as Shape).token;
        return `${path} IN (${Array.from({ length: count }, () => this.next()).join(', ')})`;
      }
      case Op.exists:
        return `attribute_exists(${path})`;
      case Op.notExists:
        return `attribute_not_exists(${path})`;
      case Op.beginsWith:
        return `begins_with(${path}, ${this.next()})`;
      case Op.contains:
        return `contains(${path}, ${this.next()})`;
      default:
        return `attribute_type(${path}, ${this.next()})`;
    }
  }

  /** A side of AND or OR; a chain of one of them needs no parentheses around itself. */
  private side(joinedBy: number): string {
    const { token } = this.nodes[this.at] as Shape;
    const text = this.condition();
    return token === joinedBy ? text : parenthesise(text);
  }

  private itemExists(): string {
    return `attribute_exists(${this.name(this.entity.naming.pk)})`;
  }

  private itemNotExists(): string {
    return `attribute_not_exists(${this.name(this.entity.naming.pk)})`;
  }

  private action(handle: Handle, operation: number): void {
    const position = this.value;
    const path = this.path(handle);
    if (handle.top === undefined) {
      this.written.add(handle);
      this.settings.set(handle.path, operation === Op.set ? position : undefined);
    }
    switch (operation) {
      case Op.set:
        this.set.push(`${path} = ${this.next()}`);
        break;
      case Op.setIfNotExists:
        this.set.push(`${path} = if_not_exists(${path}, ${this.next()})`);
        break;
      case Op.append:
        this.set.push(`${path} = list_append(if_not_exists(${path}, ${this.next()}), ${this.next()})`);
        break;
      case Op.prepend:
        this.set.push(`${path} = list_append(${this.next()}, if_not_exists(${path}, ${this.next()}))`);
        break;
      case Op.setText:
        this.set.push(`${path} = ${this.text((this.nodes[this.at++] as Shape).data as ExpressionText)}`);
        break;
      case Op.add:
        this.add.push(`${path} ${this.next()}`);
        break;
      case Op.deleteFrom:
        this.deleteFrom.push(`${path} ${this.next()}`);
        break;
      case Op.remove:
        this.remove.push(path);
        break;
    }
  }

  /** A condition without values, which a clause and a version may both ask for. */
  private require(condition: string): void {
    if (!this.conditions.includes(condition)) this.conditions.push(condition);
  }

  private structural(token: number): void {
    const { naming, model } = this.entity;
    const version = (): string =>
      this.name(this.entity.storedName(model.version as { attribute: Handle['attribute']; stored: string }));
    const setsVersion = (): boolean => model.version !== undefined && this.settings.has(model.version.path);
    switch (token) {
      case Token.If:
        this.conditions.push(this.condition());
        break;
      case Token.IfExists:
        this.require(`attribute_exists(${this.name(naming.pk)})`);
        break;
      case Token.IfNotExists:
        this.require(`attribute_not_exists(${this.name(naming.pk)})`);
        break;
      case Token.VersionIs:
        this.conditions.push(`${version()} = ${this.next()}`);
        break;
      case Token.IfVersion: {
        // The version's own tokens come last, so that a version set by the caller is known here.
        this.conditions.push(`${version()} = ${this.next()}`);
        if (!setsVersion()) this.set.push(`${version()} = ${this.next()}`);
        break;
      }
      case Token.IgnoreVersion:
        if (!setsVersion())
          this.set.push(`${version()} = if_not_exists(${version()}, ${this.next()}) + ${this.next()}`);
        break;
      case Token.StoreKeyInputs:
        for (const field of model.keyInputs) this.set.push(`${this.name(field.stored)} = ${this.next()}`);
        break;
      case Token.IsType:
        this.conditions.push(`${this.name(naming.type)} = ${this.next()}`);
        break;
    }
  }

  /** An index key follows its inputs; one that can't be computed from what the update names would go stale. */
  private indexKeys(): IndexKey[] {
    const { model } = this.entity;
    const keys: IndexKey[] = [];
    const compute = ({ template }: StoredKey): string => {
      const positions = template.inputs.flatMap(({ path, name }) => {
        const position = this.settings.get(path);
        return position === undefined ? [] : [[name, position] as const];
      });
      keys.push({ template, positions: new Map(positions) });
      return this.next();
    };
    for (const { index, keys: stored } of this.entity.indexKeys) {
      const inputs = [...index.pk.inputs, ...(index.sk?.inputs ?? [])];
      const given = (field: Field): boolean => model.keyInputs.some((key) => key.name === field.name);
      const touched = inputs.filter((field) => this.settings.has(field.path));
      if (touched.length === 0) {
        // The key alone says it, and an item that the update creates has to be in the index.
        if (!inputs.every(given)) continue;
        for (const key of stored) {
          const name = this.name(key.name);
          this.set.push(`${name} = if_not_exists(${name}, ${compute(key)})`);
        }
        continue;
      }
      if (touched.some((field) => this.isRemoved(field.path))) {
        for (const key of stored) this.remove.push(this.name(key.name));
        continue;
      }
      const missing = inputs.find((field) => this.settings.get(field.path) === undefined && !given(field));
      if (missing !== undefined) {
        invalid(
          missing.path,
          `set it to a value too: the key of the index ${index.name} is made of ${inputs.map((field) => field.path).join(', ')}, and would go stale`,
        );
      }
      for (const key of stored) this.set.push(`${this.name(key.name)} = ${compute(key)}`);
    }
    return keys;
  }

  private isRemoved(path: string): boolean {
    return this.nodes.some(
      ({ token, data }) =>
        token >= 0 && token % 32 === Op.remove && isHandle(data) && data.top === undefined && data.path === path,
    );
  }

  render(): Rendered {
    if (this.isUpdate) {
      const type = this.name(this.entity.naming.type);
      this.set.push(`${type} = if_not_exists(${type}, ${this.next()})`);
    }
    while (this.at < this.nodes.length) {
      const { token, data } = this.nodes[this.at++] as Shape;
      if (token >= 0) this.action(data as Handle, token % 32);
      else this.structural(token);
    }
    const indexKeys = this.isUpdate ? this.indexKeys() : [];
    refuseOverlaps(this.nodes);
    const sections = [
      ['SET', this.set],
      ['REMOVE', this.remove],
      ['ADD', this.add],
      ['DELETE', this.deleteFrom],
    ] as const;
    const update = sections
      .flatMap(([word, actions]) => (actions.length === 0 ? [] : `${word} ${actions.join(', ')}`))
      .join(' ');
    const [only] = this.conditions;
    const condition = this.conditions.length > 1 ? this.conditions.map(parenthesise).join(' AND ') : only;
    for (const text of [update, condition]) {
      if (text !== undefined && text.length > 4096) {
        throw new LimitExceededError(
          this.entity.model.name,
          `an expression of ${text.length} bytes is longer than DynamoDB's 4096`,
        );
      }
    }
    return {
      names: this.aliases.size === 0 ? undefined : Object.freeze(this.names),
      update: update === '' ? undefined : update,
      condition,
      indexKeys,
      written: this.written,
    };
  }
}

/** Two actions on one path, or on a path and one inside it, are refused by DynamoDB; here with the attribute's name. */
const refuseOverlaps = (nodes: readonly Shape[]): void => {
  const paths: string[] = [];
  nodes.forEach(({ token, data }) => {
    if (token < 0 || token % 32 > Op.deleteFrom || !isHandle(data)) return;
    const path = `${JSON.stringify(data.steps).slice(0, -1)},`;
    if (paths.some((other) => path.startsWith(other) || other.startsWith(path))) {
      invalid(data.path, 'an update has two actions on this path, or on one inside the other');
    }
    paths.push(path);
  });
};

/** The texts of a shape, rendered the first time. */
export const render = (entity: CompiledEntity, leaf: Shape, isUpdate: boolean): Rendered =>
  (leaf.rendered ??= new Renderer(entity, leaf, isUpdate).render());
