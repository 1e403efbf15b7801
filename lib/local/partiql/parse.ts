import type { WireItem, WireValue } from '../engine/types.js';
import { malformed, TokenReader, tokenize } from './tokens.js';

export type Path = (string | number)[];

/** A condition; `keys` of comparisons decide between Query, Scan and the key of a write. */
export type Condition =
  | { type: 'and' | 'or'; parts: Condition[] }
  | { type: 'not'; part: Condition }
  | { type: 'compare'; operator: string; left: Operand; right: Operand }
  | { type: 'between'; operand: Operand; low: Operand; high: Operand }
  | { type: 'in'; operand: Operand; members: Operand[] }
  | { type: 'call'; name: string; args: Operand[] };
export type Operand = { path: Path } | { value: WireValue } | { call: string; args: Operand[] };

export type Assignment = { path: Path; value: Operand; plus?: { operator: '+' | '-'; operand: Operand } };

export type Statement =
  | {
      type: 'select';
      paths: Path[] | undefined;
      table: string;
      index: string | undefined;
      where: Condition | undefined;
    }
  | { type: 'insert'; table: string; item: WireItem }
  | {
      type: 'update';
      table: string;
      sets: Assignment[];
      removes: Path[];
      where: Condition;
      returning: string | undefined;
    }
  | { type: 'delete'; table: string; where: Condition; returning: string | undefined };

const FUNCTIONS = new Set(['begins_with', 'contains', 'attribute_type', 'size', 'list_append']);

export function parseStatement(text: string, parameters: readonly WireValue[]): Statement {
  return new Parser(new TokenReader(tokenize(text)), parameters).statement();
}

class Parser {
  #parameter = 0;

  constructor(
    private readonly reader: TokenReader,
    private readonly parameters: readonly WireValue[],
  ) {}

  statement(): Statement {
    const statement = this.#statement();
    this.reader.end();
    if (this.#parameter !== this.parameters.length) throw malformed('the number of parameters does not match');
    return statement;
  }

  #statement(): Statement {
    const { reader } = this;
    if (reader.accept('SELECT')) {
      const paths = reader.accept('*') ? undefined : this.#list(() => this.#path());
      reader.expect('FROM');
      const table = reader.identifier();
      const index = reader.accept('.') ? reader.identifier() : undefined;
      return { type: 'select', paths, table, index, where: reader.accept('WHERE') ? this.#or() : undefined };
    }
    if (reader.accept('INSERT', 'INTO')) {
      const table = reader.identifier();
      reader.expect('VALUE');
      const value = this.#value();
      if (!value?.M) throw malformed('VALUE must be an item');
      return { type: 'insert', table, item: value.M };
    }
    if (reader.accept('UPDATE')) {
      const table = reader.identifier();
      const sets: Assignment[] = [];
      const removes: Path[] = [];
      while (!reader.is('WHERE')) {
        if (reader.accept('SET')) sets.push(...this.#list(() => this.#assignment()));
        else if (reader.accept('REMOVE')) removes.push(...this.#list(() => this.#path()));
        else throw malformed('SET, REMOVE or WHERE expected');
      }
      reader.expect('WHERE');
      return { type: 'update', table, sets, removes, where: this.#or(), returning: this.#returning() };
    }
    reader.expect('DELETE', 'FROM');
    const table = reader.identifier();
    reader.expect('WHERE');
    return { type: 'delete', table, where: this.#or(), returning: this.#returning() };
  }

  #returning(): string | undefined {
    const { reader } = this;
    if (!reader.accept('RETURNING')) return undefined;
    const scope = reader.accept('ALL') ? 'ALL' : reader.accept('MODIFIED') ? 'UPDATED' : undefined;
    const age = reader.accept('OLD') ? 'OLD' : reader.accept('NEW') ? 'NEW' : undefined;
    if (!scope || !age) throw malformed('RETURNING takes ALL or MODIFIED, OLD or NEW');
    reader.expect('*');
    return `${scope}_${age}`;
  }

  #assignment(): Assignment {
    const path = this.#path();
    this.reader.expect('=');
    const value = this.#operand();
    for (const operator of ['+', '-'] as const) {
      if (this.reader.accept(operator)) return { path, value, plus: { operator, operand: this.#operand() } };
    }
    return { path, value };
  }

  #or(): Condition {
    const parts = this.#chain('OR', () => this.#and());
    return parts.length === 1 ? parts[0]! : { type: 'or', parts };
  }

  #and(): Condition {
    const parts = this.#chain('AND', () => this.#not());
    return parts.length === 1 ? parts[0]! : { type: 'and', parts };
  }

  #not(): Condition {
    if (this.reader.accept('NOT')) return { type: 'not', part: this.#not() };
    if (this.reader.accept('(')) {
      const condition = this.#or();
      this.reader.expect(')');
      return condition;
    }
    return this.#comparison();
  }

  #comparison(): Condition {
    const { reader } = this;
    const left = this.#operand();
    if (reader.accept('IS')) {
      const not = reader.accept('NOT');
      const missing = reader.accept('MISSING');
      if (!missing) reader.expect('NULL');
      const condition: Condition = missing
        ? { type: 'call', name: 'attribute_not_exists', args: [left] }
        : { type: 'call', name: 'attribute_type', args: [left, { value: { S: 'NULL' } }] };
      return not ? { type: 'not', part: condition } : condition;
    }
    if (reader.accept('BETWEEN')) {
      const low = this.#operand();
      reader.expect('AND');
      return { type: 'between', operand: left, low, high: this.#operand() };
    }
    if (reader.accept('IN')) {
      const close = reader.accept('(') ? ')' : (reader.expect('['), ']');
      const members = this.#list(() => this.#operand());
      reader.expect(close);
      return { type: 'in', operand: left, members };
    }
    for (const operator of ['=', '<>', '!=', '<=', '>=', '<', '>']) {
      if (reader.accept(operator)) {
        return { type: 'compare', operator: operator === '!=' ? '<>' : operator, left, right: this.#operand() };
      }
    }
    if ('call' in left) return { type: 'call', name: left.call, args: left.args };
    throw malformed('a comparison is expected');
  }

  #operand(): Operand {
    const { reader } = this;
    const name = reader.peek();
    if (name?.kind === 'word' && FUNCTIONS.has(name.value.toLowerCase()) && reader.peek(1)?.value === '(') {
      reader.next();
      reader.expect('(');
      const args = this.#list(() => this.#operand());
      reader.expect(')');
      return { call: name.value.toLowerCase(), args };
    }
    const value = this.#value();
    return value ? { value } : { path: this.#path() };
  }

  /** A literal or parameter, or undefined when something else follows. */
  #value(): WireValue | undefined {
    const { reader } = this;
    const token = reader.peek();
    if (token?.kind === 'text') return { S: reader.next().value };
    if (token?.kind === 'number') return { N: reader.next().value };
    if (reader.accept('TRUE')) return { BOOL: true };
    if (reader.accept('FALSE')) return { BOOL: false };
    if (reader.accept('NULL')) return { NULL: true };
    if (reader.accept('?')) return this.#nextParameter();
    if (reader.accept('<<')) return this.#set();
    if (reader.accept('[')) {
      const L = reader.is(']') ? [] : this.#list(() => this.#required());
      reader.expect(']');
      return { L };
    }
    if (!reader.accept('{')) return undefined;
    const M: WireItem = {};
    while (!reader.is('}')) {
      const name = reader.next();
      if (name.kind !== 'text') throw malformed('names of an item are texts');
      reader.expect(':');
      M[name.value] = this.#required();
      if (!reader.accept(',')) break;
    }
    reader.expect('}');
    return { M };
  }

  #set(): WireValue {
    const members = this.#list(() => this.#required());
    this.reader.expect('>>');
    const type = (['S', 'N', 'B'] as const).find((name) => members.every((member) => member[name] !== undefined));
    if (!type) throw malformed('the members of a set have one type');
    return { [`${type}S`]: members.map((member) => member[type]!) };
  }

  #required(): WireValue {
    const value = this.#value();
    if (!value) throw malformed('a value is expected');
    return value;
  }

  #nextParameter(): WireValue {
    const value = this.parameters[this.#parameter];
    if (!value) throw malformed('the number of parameters does not match');
    this.#parameter += 1;
    return value;
  }

  #path(): Path {
    const { reader } = this;
    const path: Path = [reader.identifier()];
    for (;;) {
      if (reader.accept('.')) path.push(reader.identifier());
      else if (reader.accept('[')) {
        path.push(Number(reader.next().value));
        reader.expect(']');
      } else return path;
    }
  }

  #list<T>(member: () => T): T[] {
    return this.#chain(',', member);
  }

  #chain<T>(separator: string, member: () => T): T[] {
    const members = [member()];
    while (this.reader.accept(separator)) members.push(member());
    return members;
  }
}
