import type { AttributeValue, QueryCommandInput } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInputError, entity, integer, oneOf, string } from '../../../lib/commands/index.js';
import { textBelow } from '../../../lib/commands/keys/key-template.js';
import { offlineTable } from '../support/offline.js';

const bytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Text of few characters, so that keys share prefixes; some stand around the separator, some around surrogates. */
const word = fc.string({
  unit: fc.constantFrom('a', 'b', '!', '~', '\0', '\ud7ff', '\ue000', '\u{10000}'),
  minLength: 1,
  maxLength: 3,
});

const Event = entity('EVENT', {
  pk: 'P#{owner}',
  sk: '{kind}#N{number:3}x#{name}',
  attributes: { owner: string(), kind: string(), number: integer(), name: string() },
});
const events = offlineTable().of(Event);
const key = fc.record({ kind: word, number: fc.nat(20), name: word });
type Inputs = Partial<{ kind: string; number: number; name: string }>;

/** The first n inputs. */
const first = ({ kind, number, name }: Required<Inputs>, n: number): Inputs =>
  n === 0 ? {} : n === 1 ? { kind } : n === 2 ? { kind, number } : { kind, number, name };

/** The text of the inputs, as a person would put it together. */
const textOf = ({ kind, number, name }: Inputs): string => {
  if (kind === undefined) return '';
  if (number === undefined) return `${kind}#N`;
  return `${kind}#N${String(number).padStart(3, '0')}x#${name ?? ''}`;
};

/** What DynamoDB does with the request's condition on the sort key. */
const matches = (request: QueryCommandInput, sk: string): boolean => {
  const values = request.ExpressionAttributeValues as Record<string, AttributeValue>;
  const at = (name: string): string => values[name]?.S as string;
  const condition = request.KeyConditionExpression ?? '';
  if (condition.includes('BETWEEN')) {
    expect(bytes(at(':low'), at(':high'))).toBeLessThanOrEqual(0);
    expect(at(':low')).not.toBe('');
    return bytes(sk, at(':low')) >= 0 && bytes(sk, at(':high')) <= 0;
  }
  if (condition.includes('begins_with')) return sk.startsWith(at(':sk'));
  return !condition.includes('#sk') || sk === at(':sk');
};

const operators = ['lt', 'le', 'gt', 'ge'] as const;

describe('the key condition of a query', () => {
  it('holds for the keys that an operator means, and for no others', () => {
    const run = fc.record({
      keys: fc.array(key, { minLength: 1, maxLength: 20 }),
      given: fc.nat(2),
      pivot: key,
      more: fc.integer({ min: 1, max: 3 }),
      operator: fc.constantFrom(...operators),
    });
    fc.assert(
      fc.property(run, ({ keys, given, pivot, more, operator }) => {
        const own = first(pivot, given);
        const whole = first(pivot, Math.min(3, given + more));
        const side = Object.fromEntries(Object.entries(whole).filter(([name]) => !(name in own)));
        const request = events
          .query({ owner: 'o', ...own })
          [operator](side)
          .toRequest();
        const [start, text, complete] = [textOf(own), textOf(whole), whole.name !== undefined];
        for (const candidate of keys) {
          const sk = Event.sk.of(candidate);
          const order = bytes(sk, text);
          const under = !complete && sk.startsWith(text);
          const holds = { lt: order < 0, le: order <= 0 || under, gt: order > 0 && !under, ge: order >= 0 }[operator];
          expect(matches(request, sk)).toBe(sk.startsWith(start) && holds);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('takes both ends of a range, and all keys under an upper prefix', () => {
    const run = fc.record({ keys: fc.array(key, { maxLength: 20 }), a: key, b: key, n: fc.nat(3), m: fc.nat(3) });
    fc.assert(
      fc.property(run, ({ keys, a, b, n, m }) => {
        const [low, high] = [first(a, n), first(b, m)];
        let request;
        try {
          request = events.query({ owner: 'o' }).between(low, high).toRequest();
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidInputError);
          expect(bytes(textOf(low), textOf(high))).toBeGreaterThan(0);
          return;
        }
        for (const candidate of keys) {
          const sk = Event.sk.of(candidate);
          const below = bytes(sk, textOf(high)) <= 0 || (high.name === undefined && sk.startsWith(textOf(high)));
          expect(matches(request, sk)).toBe(bytes(sk, textOf(low)) >= 0 && below);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('takes the inputs from the left as an equal key or a common start', () => {
    fc.assert(
      fc.property(fc.array(key), key, fc.nat(3), (keys, pivot, n) => {
        const given = first(pivot, n);
        const request = events.query({ owner: 'o', ...given }).toRequest();
        for (const candidate of keys) {
          const sk = Event.sk.of(candidate);
          const equal = n === 3 ? sk === textOf(given) : sk.startsWith(textOf(given));
          expect(matches(request, sk)).toBe(equal);
        }
      }),
    );
  });

  it('beginsWith() takes the start of the next input, which is text', () => {
    const { ExpressionAttributeValues } = events
      .query({ owner: 'o', kind: 'a', number: 7 })
      .beginsWith('b')
      .toRequest();
    expect(ExpressionAttributeValues?.[':sk']).toEqual({ S: 'a#N007x#b' });
  });

  it('textBelow() is the greatest text below another, for every text that a key may hold', () => {
    const any = fc
      .string({ unit: 'binary', minLength: 1 })
      .filter((value) => value.isWellFormed() && !value.includes('\u{10ffff}'));
    const close = fc.tuple(any, any).map(([start, end]) => [start, start + end] as const);
    fc.assert(
      fc.property(fc.oneof(fc.tuple(any, any), close, fc.tuple(word, word)), ([a, b]) => {
        expect(bytes(a, textBelow(b)) <= 0).toBe(bytes(a, b) < 0);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('a query refuses', () => {
  const query = events.query({ owner: 'o', kind: 'a' });

  it.each([
    ['no input of the partition key', () => events.query({} as never)],
    ['no object', () => events.query(undefined as never)],
    ['an input after a missing one', () => events.query({ owner: 'o', number: 1 })],
    ['a name that is no input', () => events.query({ owner: 'o', other: 1 } as never)],
    ['an input of a range that the query has already', () => query.between({ kind: 'b' }, { kind: 'c' })],
    ['an input of a range that is none of the sort key', () => query.lt({ owner: 'p' })],
    ['a range without an input', () => query.lt({})],
    ['a range of undefined', () => query.lt({ number: undefined } as never)],
    ['a range that is no object', () => query.between(5 as never, 7 as never)],
    ['a range whose low end is above its high end', () => query.between({ number: 7 }, { number: 6 })],
    ['a negative number', () => query.lt({ number: -1 })],
    ['a number too wide', () => query.le({ number: 1000 })],
    ['a start of a number', () => query.beginsWith('00')],
    ['an empty start', () => events.query({ owner: 'o' }).beginsWith('')],
    ['a start with the separator', () => events.query({ owner: 'o' }).beginsWith('a#')],
    ['a start that is no text', () => events.query({ owner: 'o' }).beginsWith(5 as never)],
    ['a start with a lone surrogate', () => events.query({ owner: 'o' }).beginsWith('\ud800')],
    ['a second condition on the sort key', () => query.lt({ number: 5 }).gt({ number: 2 })],
    ['a start after a whole key', () => events.query({ owner: 'o', kind: 'a', number: 1, name: 'b' }).beginsWith('c')],
  ])('%s', (_, build) => {
    expect(build).toThrow(InvalidInputError);
  });

  it('a start that is over the limit of a key', () => {
    expect(() => events.query({ owner: 'o' }).beginsWith('x'.repeat(1025)).toRequest()).toThrow(InvalidInputError);
  });

  it('ranges where there is no sort key', () => {
    const Plain = entity('PLAIN', { pk: 'X#{id}', attributes: { id: string(), kind: oneOf('A') } });
    const plain = offlineTable({ sk: false }).of(Plain);
    expect(() => plain.query({ id: 'a' }).lt({ id: 'b' })).toThrow(InvalidInputError);
  });

  it('lets a fork take another range', () => {
    expect(query.lt({ number: 5 }).toRequest().KeyConditionExpression).toContain('BETWEEN');
    expect(query.gt({ number: 5 }).toRequest().KeyConditionExpression).toContain('BETWEEN');
  });
});
