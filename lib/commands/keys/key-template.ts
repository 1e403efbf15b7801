import { Buffer } from 'node:buffer';
import type { AttributeMap, AttributeValue } from '../attributes/attribute-value.js';
import type { Field } from '../attributes/fields.js';
import { checkText } from '../attributes/text.js';
import { corrupt, invalid } from '../errors/errors.js';

/** The names of the inputs in `ORDER#{customer}#{number:10}`. */
export type InputsOf<T extends string, R = never> = T extends `${string}{${infer Input}}${infer Rest}`
  ? InputsOf<Rest, R | (Input extends `${infer Name}:${string}` ? Name : Input)>
  : R;

/** One part of a template between separators: text around at most one input. */
interface Part {
  readonly head: string;
  readonly field: Field | undefined;
  readonly width: number;
  readonly tail: string;
}

/** How the values of a template are told apart. */
export interface TemplateOptions {
  readonly separator: string;
  /** Values that hold the separator are percent-encoded instead of refused. */
  readonly escape: boolean;
}

const maximumBytes = { pk: 2048, sk: 1024 };
const highest = '\u{10ffff}';

/** A key's text, made of an entity's members; compiled once per entity. */
export class KeyTemplate {
  readonly parts: readonly Part[];
  readonly inputs: readonly Field[];

  constructor(
    readonly text: string,
    readonly role: 'pk' | 'sk',
    fields: readonly Field[],
    readonly owner: string,
    private readonly options: TemplateOptions,
    /** An input of an index's key may be absent: the item is then not in the index. */
    private readonly primary = true,
  ) {
    const { separator } = options;
    if (typeof text !== 'string' || text === '') invalid(`${owner}.${role}`, 'a key template can not be empty');
    checkText(text, `${owner}.${role}`);
    this.parts = text.split(separator).map((part) => this.parsePart(part, fields));
    this.inputs = this.parts.flatMap((part) => part.field ?? []);
    if (new Set(this.inputs).size < this.inputs.length) invalid(`${owner}.${role}`, 'names an input twice');
  }

  private parsePart(part: string, fields: readonly Field[]): Part {
    const where = `${this.owner}.${this.role}`;
    const inputs = [...part.matchAll(/\{([^{}:]+)(?::(\d+))?\}/g)];
    const [match] = inputs;
    const rest = part.replace(/\{([^{}:]+)(?::(\d+))?\}/g, '');
    if (/[{}]/.test(rest)) invalid(where, 'has a brace that is no {input} or {input:width}');
    if (match === undefined) return { head: part, field: undefined, width: 0, tail: '' };
    const [whole, name, width = '0'] = match;
    if (inputs.length > 1)
      invalid(
        where,
        `put the separator ${this.options.separator} between two inputs: their values could not be told apart`,
      );
    const field = fields.find((candidate) => candidate.name === name);
    const key = field?.attribute.traits.key;
    if (field === undefined) return invalid(where, `names {${name}}, which is no attribute`);
    if (key === undefined)
      return invalid(field.path, 'can not stand in a key: take text, a time, an integer or a bigint');
    if (!field.required || field.attribute.traits.fallback !== undefined) {
      if (this.primary)
        invalid(field.path, 'is an input of the primary key, so it can be neither optional nor defaulted');
    }
    if (key.padded && Number(width) === 0 && this.role === 'sk') {
      invalid(where, `give {${name}} a width, as {${name}:10}: numbers of different lengths do not sort as text`);
    }
    if (!key.padded && Number(width) > 0) invalid(where, `{${name}} is no whole number, so it takes no width`);
    return {
      head: part.slice(0, match.index),
      field,
      width: Number(width),
      tail: part.slice(match.index + whole.length),
    };
  }

  private textOf(part: Part, value: unknown): string {
    const field = part.field as Field;
    if (value === undefined) return invalid(field.path, 'is an input of the key, so it is required');
    const text = (field.attribute.traits.key as { encode(v: unknown, p: string): string }).encode(value, field.path);
    return this.guard(part, text, field.path);
  }

  private guard(part: Part, text: string, path: string): string {
    const { separator, escape } = this.options;
    if (text === '') return invalid(path, 'is empty, which a key can not be');
    if (part.width > 0) {
      if (text.charCodeAt(0) === 45) return invalid(path, 'is negative, which does not sort as text');
      return text.length > part.width
        ? invalid(path, `has more digits than the ${part.width} of its width in the key`)
        : text.padStart(part.width, '0');
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
      return invalid(`${this.owner}.${this.role}`, 'expected an object with the inputs of the key');
    let text = '';
    for (let i = 0; i < this.parts.length; i++) {
      const part = this.parts[i] as Part;
      if (i > 0) text += this.options.separator;
      text += part.field === undefined ? part.head : part.head + this.textOf(part, values[part.field.name]) + part.tail;
    }
    return this.withinLimit(text);
  }

  /** Whether the inputs that an item stores are those of its key; one that is not stored is read from the key. */
  agrees(stored: AttributeMap, key: string): boolean {
    const { separator, escape } = this.options;
    let at = 0;
    for (let i = 0; i < this.parts.length; i++) {
      const { head, field, width, tail } = this.parts[i] as Part;
      let text = i === 0 ? head : separator + head;
      if (field !== undefined) {
        const value = stored[field.stored];
        const input = value?.S ?? value?.N?.padStart(width, '0');
        if (input === undefined) return true;
        text += (escape ? escaped(input, separator) : input) + tail;
      }
      if (!key.startsWith(text, at)) return false;
      at += text.length;
    }
    return at === key.length;
  }

  /** The key's text from inputs that are encoded already. */
  ofEncoded(encoded: (field: Field) => AttributeValue | undefined): string {
    const texts = this.parts.map((part) => {
      const { field } = part;
      if (field === undefined) return part.head;
      const value = encoded(field);
      const text = value?.S ?? value?.N ?? invalid(field.path, 'is an input of a key, so it is required');
      return part.head + this.guard(part, text, field.path) + part.tail;
    });
    return this.withinLimit(texts.join(this.options.separator));
  }

  private withinLimit(text: string): string {
    const limit = maximumBytes[this.role];
    // A character takes at most three bytes per UTF-16 unit.
    if (text.length * 3 > limit && Buffer.byteLength(text) > limit) {
      invalid(
        `${this.owner}.${this.role}`,
        `is longer than the ${limit} bytes of a ${this.role === 'pk' ? 'partition' : 'sort'} key`,
      );
    }
    return text;
  }

  /**
   * The text that every key starts with which has the given inputs: up to the first input that is missing. `complete`
   * where none is. Refuses an input after a missing one, which no prefix can hold.
   */
  prefix(values: Record<string, unknown>): { text: string; complete: boolean; next: Part | undefined } {
    let text = '';
    for (let i = 0; i < this.parts.length; i++) {
      const part = this.parts[i] as Part;
      if (i > 0) text += this.options.separator;
      text += part.head;
      if (part.field === undefined) continue;
      if (values[part.field.name] === undefined) {
        const late = this.parts.slice(i + 1).find((later) => later.field && values[later.field.name] !== undefined);
        if (late?.field)
          invalid(late.field.path, `needs ${part.field.name} too: the inputs of a sort key are given from the left`);
        return { text: this.withinLimit(text), complete: false, next: part };
      }
      text += this.textOf(part, values[part.field.name]) + part.tail;
    }
    return { text: this.withinLimit(text), complete: true, next: undefined };
  }

  /** What a key starts with that starts with `text`, and whose next input, `part`, starts with `start`. */
  start(text: string, part: Part, start: string): string {
    if (part.width > 0 || part.field?.attribute.traits.key?.padded) {
      return invalid(part.field?.path ?? '', 'is a number, which has no prefix: use between()');
    }
    const path = part.field?.path ?? '';
    return this.withinLimit(text + this.guard(part, checkText(start, path), path));
  }

  /** The inputs of a stored key. */
  parse(text: string): Record<string, unknown> {
    return this.tryParse(text) ?? corrupt(`${this.owner}.${this.role}`, 'a key of its template');
  }

  tryParse(text: string): Record<string, unknown> | undefined {
    const { separator, escape } = this.options;
    if (typeof text !== 'string') return undefined;
    const texts = text.split(separator);
    if (texts.length !== this.parts.length) return undefined;
    const values: Record<string, unknown> = {};
    try {
      this.parts.forEach(({ field, head, tail }, i) => {
        if (field === undefined) return;
        const given = texts[i] as string;
        const inner = given.slice(head.length, given.length - tail.length);
        values[field.name] = field.attribute.traits.key?.decode(escape ? decodeURIComponent(inner) : inner);
      });
      // Only what these values give is a key of this template: no other spelling, width, head or escape.
      return this.of(values) === text ? values : undefined;
    } catch {
      return undefined;
    }
  }

  /** Whether some text could be a key of both templates. */
  meets(other: KeyTemplate): boolean {
    if (this.options.separator !== other.options.separator) return couldStartAlike(this, other);
    return (
      this.parts.length === other.parts.length &&
      this.parts.every((part, i) =>
        partsMeet(part, other.parts[i] as Part, this.options.escape || other.options.escape),
      )
    );
  }
}

const encodeSeparator = (separator: string): string =>
  [...Buffer.from(separator)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');

/** What stands in a key for a value that may hold anything. */
const escaped = (text: string, separator: string): string =>
  text.replaceAll('%', '%25').replaceAll(separator, encodeSeparator(separator)).replaceAll(highest, '%F4%8F%BF%BF');

const partsMeet = (a: Part, b: Part, escaped: boolean): boolean => {
  if (a.field === undefined && b.field === undefined) return a.head === b.head;
  if (a.field === undefined) return literalFits(a.head, b, escaped);
  if (b.field === undefined) return literalFits(b.head, a, escaped);
  return (
    (a.head.startsWith(b.head) || b.head.startsWith(a.head)) && (a.tail.endsWith(b.tail) || b.tail.endsWith(a.tail))
  );
};

const literalFits = (literal: string, part: Part, escaped: boolean): boolean => {
  if (!literal.startsWith(part.head) || !literal.endsWith(part.tail)) return false;
  const inner = literal.slice(part.head.length, literal.length - part.tail.length);
  const pattern = part.field?.attribute.traits.key?.pattern;
  // An escaped value does not look as its pattern says.
  const fits = pattern === undefined || escaped || pattern.test(inner);
  return literal.length > part.head.length + part.tail.length && fits;
};

/** With different separators a value of one may look like a separator of the other, so only the fixed start tells. */
const couldStartAlike = (a: KeyTemplate, b: KeyTemplate): boolean => {
  const start = (template: KeyTemplate): string => template.text.split('{')[0] as string;
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
