import { corrupt, invalid } from '../errors/errors.js';
import { weight, type Decode, type Encode } from './attribute-value.js';
import type { KeyText, Make } from './attribute.js';

/** Stores text as S after `check`, which refuses a value or returns the text to store. */
export const textCodec =
  (check: (value: unknown, path: string) => string, decode: (text: string, path: string) => unknown = identity): Make =>
  (path): [Encode, Decode] => [
    (value) => {
      const text = check(value, path);
      weight.units += text.length;
      return { S: text };
    },
    (stored) => (typeof stored.S === 'string' ? decode(stored.S, path) : corrupt(path, 'a string')),
  ];

const identity = (text: string): unknown => text;

/** Text in a key is stored as it is. */
export const textKey = (
  check: (value: unknown, path: string) => string,
  decode: (text: string, path: string) => unknown = identity,
  pattern?: RegExp,
): KeyText => ({
  encode_: check,
  decode_: (text) => decode(text, 'key'),
  padded_: false,
  ...(pattern && { pattern_: pattern }),
});

/** Whether it is a string that is not empty. */
export const isFilledText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** A string without lone surrogates: UTF-8 has none, so two different ones would be stored as one. */
export const checkText = (value: unknown, path: string): string => {
  if (typeof value !== 'string') return invalid(path, 'expected a string');
  if (!value.isWellFormed()) return invalid(path, 'expected well-formed text, without a lone surrogate');
  return value;
};
