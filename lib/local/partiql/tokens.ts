import { validationError } from '../engine/api-error.js';

/** A word of a statement. Quoted names are never keywords; texts are values. */
export interface Token {
  kind: 'word' | 'name' | 'text' | 'number' | 'mark';
  value: string;
}

const PATTERN =
  /\s*(?:(?<word>[A-Za-z_][A-Za-z0-9_]*)|"(?<name>(?:[^"]|"")*)"|'(?<text>(?:[^']|'')*)'|(?<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<mark><<|>>|<>|!=|<=|>=|[=<>(){}[\],.:?*;+-]))/y;

export function tokenize(statement: string): Token[] {
  const tokens: Token[] = [];
  const text = statement.trimEnd();
  PATTERN.lastIndex = 0;
  while (PATTERN.lastIndex < text.length) {
    const match = PATTERN.exec(text);
    if (!match?.groups) throw malformed('unexpected character');
    const [kind, value] = Object.entries(match.groups).find(([, found]) => found !== undefined)!;
    tokens.push({ kind: kind as Token['kind'], value: unquoted(kind, value) });
  }
  return tokens;
}

function unquoted(kind: string, value: string): string {
  if (kind === 'name') return value.replaceAll('""', '"');
  return kind === 'text' ? value.replaceAll("''", "'") : value;
}

/** Reads tokens one after another; whatever does not fit is a ValidationException. */
export class TokenReader {
  #at = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  peek(offset = 0): Token | undefined {
    return this.tokens[this.#at + offset];
  }

  next(): Token {
    const token = this.tokens[this.#at];
    if (!token) throw malformed('the statement ends too early');
    this.#at += 1;
    return token;
  }

  /** True when the next words are these keywords or marks, in any case. */
  is(...values: string[]): boolean {
    return values.every((value, i) => {
      const token = this.peek(i);
      return (token?.kind === 'word' || token?.kind === 'mark') && token.value.toUpperCase() === value;
    });
  }

  accept(...values: string[]): boolean {
    if (!this.is(...values)) return false;
    this.#at += values.length;
    return true;
  }

  expect(...values: string[]): void {
    if (!this.accept(...values)) throw malformed(`${values.join(' ')} expected`);
  }

  identifier(): string {
    const token = this.next();
    if (token.kind !== 'word' && token.kind !== 'name') throw malformed('a name is expected');
    return token.value;
  }

  end(): void {
    this.accept(';');
    if (this.peek()) throw malformed('the statement goes on where it should end');
  }
}

export function malformed(why: string): Error {
  return validationError(`Statement wasn't well formed, can't be processed: ${why}`);
}
