import type { Field } from '../attributes/fields.js';
import type { CompiledEntity } from '../entity/compiled.js';
import { LimitExceededError, invalid } from '../errors/errors.js';
import type { Handle } from './handle.js';
import * as Op from './op.js';
import { nodesTo, type ExpressionText, type IndexKey, type Rendered, type Shape } from './shape.js';
import * as Token from './token.js';

/** The placeholder of the n-th value. */
export const placeholder = (n: number): string => `:${n}`;

/** What an operation is written as, by its number: `@` is the path, `?` the next value. `setText` and `isIn` are longer. */
const forms = [
  '@ = ?',
  '@ = if_not_exists(@, ?)',
  '@ = ',
  '@ = list_append(if_not_exists(@, ?), ?)',
  '@ = list_append(?, if_not_exists(@, ?))',
  '@',
  '@ ?',
  '@ ?',
  ...['=', '<>', '<', '<=', '>', '>='].map((comparison) => `@ ${comparison} ?`),
  '@ BETWEEN ? AND ?',
  '@ IN (',
  'attribute_exists(@)',
  'attribute_not_exists(@)',
  'begins_with(@, ?)',
  'contains(@, ?)',
  'attribute_type(@, ?)',
];

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

/** The operations whose value the item holds afterwards. */
const keeps: readonly number[] = [Op.set, Op.append, Op.prepend, Op.add];

/** Operators and functions; a BETWEEN is told by its AND. Names and values are placeholders, so that no word is one of theirs. */
const operator = /\b(?:AND|OR|NOT|IN)\b|[=<>]+|[+-]|\w\(/gi;

/** Runs once per shape: the tokens of a chain become its expression texts and the names that they share. */
const rendering = (entity: CompiledEntity, leaf: Shape, isUpdate: boolean): Rendered => {
  const { naming_: naming, model_: model } = entity;
  const names: Record<string, string> = {};
  const aliases = new Map<string, string>();
  const nodes = nodesTo(leaf);
  const sections: [string[], string[], string[], string[]] = [[], [], [], []];
  const [set, remove] = sections;
  const conditions: string[] = [];
  const written = new Set<Handle>();
  /** Where an update writes a whole top-level attribute: the position of the value that it is set to, or one of these. */
  const settings = new Map<string, number>();
  const removed = -1;
  const computed = -2;
  const paths: string[] = [];
  const kept: number[] = [];
  let at = 0;
  let value = 0;

  const name = (stored: string): string => {
    let alias = aliases.get(stored);
    if (alias === undefined) {
      alias = `#${aliases.size}`;
      aliases.set(stored, alias);
      names[alias] = stored;
    }
    return alias;
  };

  const pathOf = ({ steps_: steps, top_: top, attribute_: attribute, measuresSize_: measured }: Handle): string => {
    const [first, ...rest] = steps as [string];
    let text = name(entity.storedName_({ attribute_: top?.attribute_ ?? attribute, stored_: first }));
    for (const step of rest as Handle['steps_']) text += typeof step === 'number' ? `[${step}]` : `.${name(step)}`;
    return measured ? `size(${text})` : text;
  };

  const next = (): string => placeholder(value++);
  const form = (path: string, text: string): string => text.replace(/[@?]/g, (sign) => (sign === '@' ? path : next()));
  const textOf = ({ strings_: strings, inserts_: inserts }: ExpressionText): string =>
    strings.reduce((text, part, i) => {
      const insert = inserts[i - 1];
      return text + (insert ? pathOf(insert) : next()) + part;
    });

  const condition = (): string => {
    const { token_: token, data_: data } = nodes[at++] as Shape;
    if (token === Token.And || token === Token.Or) {
      const side = (): string => {
        const { token_: inner } = nodes[at] as Shape;
        const text = condition();
        return inner === token ? text : parenthesise(text);
      };
      return `${side()} ${token === Token.And ? 'AND' : 'OR'} ${side()}`;
    }
    if (token === Token.Not) return `NOT ${parenthesise(condition())}`;
    if (token === Token.Text) return textOf(data as ExpressionText);
    if (token === Token.ItemExists) return itemForm(Op.exists);
    if (token === Token.ItemNotExists) return itemForm(Op.notExists);
    const operation = token % 32;
    let text = forms[operation] as string;
    if (operation === Op.isIn) {
      const count = Token.Operands - (nodes[at++] as Shape).token_;
      text += `${Array(count).fill('?').join(', ')})`;
    }
    return form(pathOf(data as Handle), text);
  };
  const itemForm = (operation: number): string => form(name(naming.pk), forms[operation] as string);

  const action = (handle: Handle, operation: number): void => {
    const { steps_: steps, top_: top, path_: path } = handle;
    const id = `${JSON.stringify(steps).slice(0, -1)},`;
    if (paths.some((other) => id.startsWith(other) || other.startsWith(id))) {
      invalid(path, 'an update has two actions on this path, or on one inside the other');
    }
    paths.push(id);
    if (!top) {
      written.add(handle);
      settings.set(path, operation === Op.set ? value : operation === Op.remove ? removed : computed);
    }
    const first = value;
    let text = form(pathOf(handle), forms[operation] as string);
    // What stays when the other value of an append or prepend, the empty list, is gone.
    if (keeps.includes(operation)) kept.push(operation === Op.prepend ? first : value - 1);
    if (operation === Op.setText) text += textOf((nodes[at++] as Shape).data_ as ExpressionText);
    sections[operation > Op.prepend ? operation - Op.prepend : 0]?.push(text);
  };

  const structural = (token: number): void => {
    if (token === Token.If) conditions.push(condition());
    else if (token === Token.IfExists || token === Token.IfNotExists) {
      const text = itemForm(token === Token.IfExists ? Op.exists : Op.notExists);
      if (!conditions.includes(text)) conditions.push(text);
    } else if (token === Token.StoreKeyInputs) {
      for (const field of model.keyInputs_) set.push(form(name(field.stored_), '@ = ?'));
    } else if (token < Token.If) {
      // The version's own tokens come last, so that a version set by the caller is known here.
      const field = model.version_ as Field;
      const version = name(entity.storedName_(field));
      const moves = token !== Token.VersionIs && !settings.has(field.path_);
      if (token !== Token.IgnoreVersion) conditions.push(form(version, '@ = ?'));
      if (moves) set.push(form(version, token === Token.IfVersion ? '@ = ?' : '@ = if_not_exists(@, ?) + ?'));
    }
  };

  const indexKeys: IndexKey[] = [];
  const computeKeys = ({ index_: index, keys_: keys }: CompiledEntity['indexKeys_'][number]): void => {
    const { keyInputs_: inputs } = index;
    const given = (field: Field): boolean => model.keyInputs_.some((key) => key.name_ === field.name_);
    const touched = inputs.filter((field) => settings.has(field.path_));
    // The key alone says it, and an item that the update creates has to be in the index.
    if (touched.length === 0 && !inputs.every(given)) return;
    if (touched.some((field) => settings.get(field.path_) === removed)) {
      for (const key of keys) remove.push(name(key.name_));
      return;
    }
    for (const field of inputs) {
      if (settings.get(field.path_) === computed || !(settings.has(field.path_) || given(field))) {
        invalid(
          field.path_,
          `set it to a value too: the key of the index ${index.name_} is made of ${inputs.map((input) => input.path_).join(', ')}, and would go stale`,
        );
      }
    }
    for (const { name_: stored, template_: template } of keys) {
      const positions = new Map<string, number>();
      for (const { path_: path, name_: input } of template.inputs_) {
        const position = settings.get(path);
        if (position !== undefined) positions.set(input, position);
      }
      indexKeys.push({ template_: template, positions_: positions });
      set.push(form(name(stored), touched.length === 0 ? '@ = if_not_exists(@, ?)' : '@ = ?'));
    }
  };

  if (isUpdate) set.push(form(name(naming.type), '@ = if_not_exists(@, ?)'));
  while (at < nodes.length) {
    const { token_: token, data_: data } = nodes[at++] as Shape;
    if (token >= 0) action(data as Handle, token % 32);
    else structural(token);
  }
  if (isUpdate) entity.indexKeys_.forEach(computeKeys);
  const update = ['SET', 'REMOVE', 'ADD', 'DELETE']
    .flatMap((word, i) => (sections[i]?.length ? `${word} ${sections[i].join(', ')}` : []))
    .join(' ');
  const [only = ''] = conditions;
  const all = conditions.length > 1 ? conditions.map(parenthesise).join(' AND ') : only;
  for (const text of [update, all]) {
    const over = (count: number, of: string, most: number): void => {
      if (count > most)
        throw new LimitExceededError(model.name, `an expression of ${count} ${of}, over DynamoDB's ${most}`);
    };
    over(text.length, 'bytes', 4096);
    over(text.match(operator)?.length ?? 0, 'operators', 300);
  }
  return {
    names_: aliases.size === 0 ? undefined : Object.freeze(names),
    update_: update || undefined,
    condition_: all || undefined,
    indexKeys_: indexKeys,
    kept_: kept,
    written_: written,
  };
};

/** The expressions of a command of this shape; the placeholders count from the first value. */
export const render = (entity: CompiledEntity, leaf: Shape, isUpdate: boolean): Rendered =>
  (leaf.rendered_ ??= rendering(entity, leaf, isUpdate));
