import type { AttributeMap, AttributeValue } from '../attributes/attribute-value.js';
import type { KeyText } from '../attributes/attribute.js';
import type { Field } from '../attributes/fields.js';
import { checkText } from '../attributes/text.js';
import { corrupt, invalid } from '../errors/errors.js';

/** The names of the inputs in `ORDER#{customer}#{number:10}`. */
export type InputsOf<T extends string, R = never> = T extends `${string}{${infer Input}}${infer Rest}`
  ? InputsOf<Rest, R | (Input extends `${infer Name}:${string}` ? Name : Input)>
  : R;

/** One part of a template between separators: text around at most one input. */
interface Part {
  readonly head_: string;
  readonly field_: Field | undefined;
  readonly width_: number;
  readonly tail_: string;
}

/** A part with an input, or the last one, with all text before it: the separators and the parts that have no input. */
interface PieceOf<F extends Field | undefined> extends Part {
  readonly lead_: string;
  readonly field_: F;
}

/** How the values of a template are told apart. */
export interface TemplateOptions {
  readonly separator: string;
  /** Values that hold the separator are percent-encoded instead of refused. */
  readonly escape: boolean;
}

const anyInput = /\{([^{}:]+)(?::(\d+))?\}/g;
const maximumBytes = { pk: 2048, sk: 1024 };
const zeros = '0'.repeat(maximumBytes.pk);
const highest = '\u{10ffff}';

/** A key's text, made of an entity's members; compiled once per entity. */
export class KeyTemplate {
  readonly parts_: readonly Part[];
  private readonly pieces_: readonly PieceOf<Field | undefined>[];
  readonly inputs_: readonly Field[];

  constructor(
    readonly text_: string,
    readonly role_: 'pk' | 'sk',
    fields: readonly Field[],
    readonly owner_: string,
    private readonly options_: TemplateOptions,
    /** An input of an index's key may be absent: the item is then not in the index. */
    private readonly primary_ = true,
  ) {
    const { separator } = options_;
    if (typeof text_ !== 'string' || text_ === '') invalid(`${owner_}.${role_}`, 'a key template can not be empty');
    checkText(text_, `${owner_}.${role_}`);
    this.parts_ = text_.split(separator).map((text) => this.parsePart_(text, fields));
    this.inputs_ = this.parts_.flatMap((part) => part.field_ ?? []);
    let lead = '';
    this.pieces_ = this.parts_.flatMap((part, i) => {
      lead += i === 0 ? part.head_ : separator + part.head_;
      if (!part.field_ && i + 1 < this.parts_.length) return [];
      const piece = { ...part, lead_: lead };
      lead = '';
      return piece;
    });
    if (new Set(this.inputs_).size < this.inputs_.length) invalid(`${owner_}.${role_}`, 'names an input twice');
  }

  private parsePart_(part: string, fields: readonly Field[]): Part {
    const where = `${this.owner_}.${this.role_}`;
    const inputs = [...part.matchAll(anyInput)];
    const [match] = inputs;
    if (/[{}]/.test(part.replace(anyInput, ''))) invalid(where, 'has a brace that is no {input} or {input:width}');
    if (!match) return { head_: part, field_: undefined, width_: 0, tail_: '' };
    const [whole, name] = match;
    const width = Number(match[2] ?? 0);
    if (inputs.length > 1)
      invalid(
        where,
        `put the separator ${this.options_.separator} between two inputs: their values could not be told apart`,
      );
    const field = fields.find((candidate) => candidate.name_ === name);
    const key = field?.attribute_.traits_.key_;
    if (!field) return invalid(where, `names {${name}}, which is no attribute`);
    if (!key) return invalid(field.path_, 'can not stand in a key: take text, a time, an integer or a bigint');
    if (!field.required_ || field.attribute_.traits_.fallback_) {
      if (this.primary_)
        invalid(field.path_, 'is an input of the primary key, so it can be neither optional nor defaulted');
    }
    if (key.padded_ && width === 0 && this.role_ === 'sk') {
      invalid(where, `give {${name}} a width, as {${name}:10}: numbers of different lengths do not sort as text`);
    }
    if (!key.padded_ && width > 0) invalid(where, `{${name}} is no whole number, so it takes no width`);
    if (width > maximumBytes[this.role_]) invalid(where, `the width of {${name}} is more than a key holds`);
    return {
      head_: part.slice(0, match.index),
      field_: field,
      width_: width,
      tail_: part.slice(match.index + whole.length),
    };
  }

  private textOf_(part: Part, field: Field, value: unknown): string {
    if (value === undefined) return missing(field);
    const text = (field.attribute_.traits_.key_ as KeyText).encode_(value, field.path_);
    return this.guard_(part, text, field.path_);
  }

  private guard_(part: Part, text: string, path: string): string {
    const { separator, escape } = this.options_;
    if (text === '') return invalid(path, 'is empty, which a key can not be');
    if (part.width_ > 0) {
      if (text.charCodeAt(0) === 45) return invalid(path, 'is negative, which does not sort as text');
      return text.length > part.width_
        ? invalid(path, `has more digits than the ${part.width_} of its width in the key`)
        : zeros.slice(0, part.width_ - text.length) + text;
    }
    if (escape) return escaped(text, separator);
    if (text.includes(separator)) {
      return invalid(path, `contains ${separator}, the separator of keys: take another separator, or \`escape: true\``);
    }
    return text.includes(highest) ? invalid(path, 'contains U+10FFFF, which no key value may') : text;
  }

  /** The key's text; refuses a missing or empty input, one that holds the separator, and too many bytes. */
  of(values: Record<string, unknown>): string {
    if (typeof values !== 'object' || values === null)
      return invalid(`${this.owner_}.${this.role_}`, 'expected an object with the inputs of the key');
    let text = '';
    // A function for the input, as in `ofEncoded_`, would cost each update a twentieth.
    for (const piece of this.pieces_) {
      const { lead_: lead, field_: field, tail_: tail } = piece;
      text += field ? lead + this.textOf_(piece, field, values[field.name_]) + tail : lead;
    }
    return this.withinLimit_(text);
  }

  /** Whether the inputs that an item stores are those of its key; undefined where one that is not stored would have to tell. */
  agrees_(stored: AttributeMap, key: string): boolean | undefined {
    const { separator, escape } = this.options_;
    let at = 0;
    for (const { lead_: lead, field_: field, width_: width, tail_: tail } of this.pieces_) {
      const value = field && stored[field.stored_];
      const input = value?.S ?? value?.N;
      if (field && input === undefined) return undefined;
      // Compared piece by piece where they stand: joining them first takes several times as long.
      if (!key.startsWith(lead, at)) return false;
      at += lead.length;
      if (input === undefined) continue;
      for (const digits = at + width - input.length; at < digits; at++) if (key[at] !== '0') return false;
      const text = escape ? escaped(input, separator) : input;
      if (!key.startsWith(text, at) || !key.startsWith(tail, at + text.length)) return false;
      at += text.length + tail.length;
    }
    return at === key.length;
  }

  /** Whether the key of these inputs is this one; false where they have none. */
  makes_(values: Record<string, unknown>, key: string): boolean {
    try {
      return this.of(values) === key;
    } catch {
      return false;
    }
  }

  /** The key's text from inputs that are encoded already. */
  ofEncoded_(encoded: (field: Field) => AttributeValue | undefined): string {
    let text = '';
    for (const piece of this.pieces_) {
      const { lead_: lead, field_: field, tail_: tail } = piece;
      text += lead;
      if (!field) continue;
      const value = encoded(field);
      const input = value?.S ?? value?.N ?? missing(field);
      text += this.guard_(piece, input, field.path_) + tail;
    }
    return this.withinLimit_(text);
  }

  private withinLimit_(text: string): string {
    const limit = maximumBytes[this.role_];
    // A character takes at most three bytes per UTF-16 unit.
    if (text.length * 3 > limit && Buffer.byteLength(text) > limit) {
      invalid(
        `${this.owner_}.${this.role_}`,
        `is longer than the ${limit} bytes of a ${this.role_ === 'pk' ? 'partition' : 'sort'} key`,
      );
    }
    return text;
  }

  /**
   * The text that every key starts with which has the given inputs: up to the first that is missing, which is `next_`.
   * Refuses an input after a missing one, which no prefix can hold.
   */
  prefix_(values: Record<string, unknown>): { text_: string; next_: PieceOf<Field> | undefined } {
    let text = '';
    for (const piece of this.pieces_) {
      const { lead_: lead, field_: field, tail_: tail } = piece;
      text += lead;
      if (!field) continue;
      const value = values[field.name_];
      if (value === undefined) {
        const late = this.inputs_.slice(this.inputs_.indexOf(field)).find((later) => values[later.name_] !== undefined);
        if (late) invalid(late.path_, `needs ${field.name_} too: the inputs of a sort key are given from the left`);
        return { text_: this.withinLimit_(text), next_: piece as PieceOf<Field> };
      }
      text += this.textOf_(piece, field, value) + tail;
    }
    return { text_: this.withinLimit_(text), next_: undefined };
  }

  /** What a key starts with that starts with `text`, and whose next input starts with `start`. */
  start_(text: string, next: PieceOf<Field>, start: string): string {
    const { path_: path, attribute_: attribute } = next.field_;
    if (attribute.traits_.key_?.padded_) return invalid(path, 'is a number, which has no prefix: use between()');
    return this.withinLimit_(text + this.guard_(next, checkText(start, path), path));
  }

  /** The inputs of a stored key. */
  parse(text: string): Record<string, unknown> {
    return this.tryParse_(text) ?? corrupt(`${this.owner_}.${this.role_}`, 'a key of its template');
  }

  tryParse_(text: string): Record<string, unknown> | undefined {
    const { separator, escape } = this.options_;
    if (typeof text !== 'string') return undefined;
    const texts = text.split(separator);
    if (texts.length !== this.parts_.length) return undefined;
    const values: Record<string, unknown> = {};
    try {
      this.parts_.forEach(({ field_: field, head_: head, tail_: tail }, i) => {
        if (!field) return;
        const given = texts[i] as string;
        const inner = given.slice(head.length, given.length - tail.length);
        values[field.name_] = field.attribute_.traits_.key_?.decode_(escape ? decodeURIComponent(inner) : inner);
      });
      // Only what these values give is a key of this template: no other spelling, width, head or escape.
      return this.of(values) === text ? values : undefined;
    } catch {
      return undefined;
    }
  }

  /** Whether some text could be a key of both templates. */
  meets_(other: KeyTemplate): boolean {
    if (this.options_.separator !== other.options_.separator) return couldStartAlike(this, other);
    return (
      this.parts_.length === other.parts_.length &&
      this.parts_.every((part, i) =>
        partsMeet(part, other.parts_[i] as Part, this.options_.escape || other.options_.escape),
      )
    );
  }
}

const missing = ({ path_: path }: Field): never => invalid(path, 'is an input of the key, so it is required');

const encodeSeparator = (separator: string): string =>
  [...Buffer.from(separator)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

/** What stands in a key for a value that may hold anything. */
const escaped = (text: string, separator: string): string =>
  text.replaceAll('%', '%25').replaceAll(separator, encodeSeparator(separator)).replaceAll(highest, '%F4%8F%BF%BF');

const partsMeet = (a: Part, b: Part, escaped: boolean): boolean => {
  if (!a.field_ && !b.field_) return a.head_ === b.head_;
  if (!a.field_) return literalFits(a.head_, b, escaped);
  if (!b.field_) return literalFits(b.head_, a, escaped);
  return (
    (a.head_.startsWith(b.head_) || b.head_.startsWith(a.head_)) &&
    (a.tail_.endsWith(b.tail_) || b.tail_.endsWith(a.tail_))
  );
};

const literalFits = (literal: string, part: Part, escaped: boolean): boolean => {
  if (!literal.startsWith(part.head_) || !literal.endsWith(part.tail_)) return false;
  const inner = literal.slice(part.head_.length, literal.length - part.tail_.length);
  const pattern = part.field_?.attribute_.traits_.key_?.pattern_;
  // An escaped value does not look as its pattern says.
  const fits = pattern === undefined || escaped || pattern.test(inner);
  return literal.length > part.head_.length + part.tail_.length && fits;
};

/** With different separators a value of one may look like a separator of the other, so only the fixed start tells. */
const couldStartAlike = (a: KeyTemplate, b: KeyTemplate): boolean => {
  const start = (template: KeyTemplate): string => template.text_.split('{')[0] as string;
  return start(a).startsWith(start(b)) || start(b).startsWith(start(a));
};

/**
 * The greatest text below `text` in DynamoDB's byte order, given that no key value holds U+10FFFF; for `<`, since a sort
 * key condition takes one operator and BETWEEN includes both ends.
 */
export const textBelow = (text: string): string => {
  const characters = [...text];
  const last = (characters.pop() as string).codePointAt(0) as number;
  const rest = characters.join('');
  if (last === 0) return rest;
  // U+E000 follows U+D7FF: surrogates are no characters.
  return rest + String.fromCodePoint(last === 0xe000 ? 0xd7ff : last - 1) + highest;
};

/** A text above every key that starts with `prefix`. */
export const textAbove = (prefix: string): string => prefix + highest;
