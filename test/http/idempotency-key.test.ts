import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProblemError, idempotencyKeyOf } from '../../lib/http/index.js';
import { httpEvent } from './http-event.js';

const keyOf = (value: string | null): string => idempotencyKeyOf(httpEvent({ key: value }));

const problemOf = (value: string | null) => {
  try {
    keyOf(value);
  } catch (error) {
    expect(error).toBeInstanceOf(ProblemError);
    return (error as ProblemError).problem;
  }
  throw new Error('expected a refusal');
};

const printable = fc.string({
  minLength: 1,
  maxLength: 255,
  unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)),
});
const quote = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

describe('idempotencyKeyOf', () => {
  it('takes the quoted and the bare form of a text as one key', () => {
    expect([keyOf('"k1"'), keyOf('k1'), keyOf('\t k1 '), keyOf(' "k1" ')]).toEqual(['k1', 'k1', 'k1', 'k1']);
  });

  it('reads any printable text that is quoted', () => {
    fc.assert(
      fc.property(printable, (text) => {
        expect(keyOf(quote(text))).toBe(text);
      }),
    );
  });

  it('gives back a bare text as it is, or refuses it', () => {
    fc.assert(
      fc.property(printable, (text) => {
        if (/[ ,"]/.test(text)) return void (text.startsWith('"') || text.trim() !== text || problemOf(text));
        expect(keyOf(text)).toBe(text);
      }),
    );
  });

  it('throws nothing but problems, whatever the header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        try {
          expect(keyOf(text)).toMatch(/^[ -~]{1,255}$/);
        } catch (error) {
          expect(error).toBeInstanceOf(ProblemError);
        }
      }),
    );
  });

  it.each([null, '', ' ', '""', '\t'])('calls %j missing', (value) => {
    expect(problemOf(value)).toMatchObject({ status: 400, type: 'urn:safewrites:problem:idempotency-key-missing' });
  });

  it.each([
    ['repeated, as API Gateway joins it', 'k1,k2'],
    ['repeated, with a space', 'k1, k2'],
    ['repeated, quoted', '"k1","k2"'],
    ['repeated, the same', 'k1,k1'],
    ['not closed', '"k1'],
    ['with an escape of another character', '"k\\1"'],
    ['with parameters', '"k1";a=1'],
    ['with a space', 'k 1'],
    ['with a quote', 'k"1'],
    ['not ASCII', 'schlüssel'],
    ['not ASCII, quoted', '"schlüssel"'],
    ['with a control character', 'k\u0000'],
    ['with a line break, quoted', '"k\n"'],
    ['of 256 characters', 'x'.repeat(256)],
    ['of 256 characters, quoted', `"${'x'.repeat(256)}"`],
    ['of 1 MB', '"\\'.repeat(500_000)],
  ])('refuses a header that is %s', (_name, value) => {
    const problem = problemOf(value);
    expect(problem).toMatchObject({ status: 400, type: 'urn:safewrites:problem:idempotency-key-invalid' });
    expect(JSON.stringify(problem)).not.toContain(value.slice(0, 10));
  });

  it('takes 255 characters, all of them escaped', () => {
    expect(keyOf(`"${'\\"'.repeat(255)}"`)).toBe('"'.repeat(255));
  });

  it('takes commas and spaces in a quoted text', () => {
    expect(keyOf('"a, b"')).toBe('a, b');
  });

  it('refuses a header that arrives under two spellings', () => {
    const event = httpEvent({ headers: { 'Idempotency-Key': 'k2' } });
    expect(() => idempotencyKeyOf(event)).toThrow(ProblemError);
  });

  it('finds the header whatever its spelling', () => {
    expect(idempotencyKeyOf(httpEvent({ key: null, headers: { 'Idempotency-Key': 'k2' } }))).toBe('k2');
  });
});
