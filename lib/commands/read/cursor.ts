import type { AttributeMap } from '../attributes/attribute-value.js';
import { isFilledText } from '../attributes/text.js';
import { invalid } from '../errors/errors.js';

/**
 * FNV-1a, 32 bits, over the parts of a query: tells a cursor of another query apart. It is no signature: what keeps a
 * cursor inside its query is that the partition key is taken from the query and never from the cursor.
 */
const fingerprint = (parts: readonly string[]): string => {
  let hash = 0x811c9dc5;
  for (const part of parts) {
    for (let i = 0; i < part.length; i++) hash = Math.imul(hash ^ part.charCodeAt(i), 0x01000193);
    hash = Math.imul(hash ^ 0xff, 0x01000193);
  }
  return (hash >>> 0).toString(36);
};

/** Where a query goes on, as opaque text. `query` says which query it belongs to, `names` the key attributes it holds. */
export const writeCursor = (key: AttributeMap, names: readonly string[], query: readonly string[]): string =>
  Buffer.from(JSON.stringify([fingerprint(query), ...names.map((name) => key[name]?.S ?? '')])).toString('base64url');

/** The key that a cursor stands for; refuses one of another query, and anything that is no cursor. */
export const readCursor = (cursor: string, names: readonly string[], query: readonly string[]): AttributeMap => {
  const refuse = (): never => invalid('after', 'expected the cursor of a page of this same query');
  let parts: unknown;
  try {
    const bytes = Buffer.from(cursor, 'base64url');
    // The decoder skips what it does not know, and a character too many: only the text that was written is one.
    if (bytes.toString('base64url') !== cursor) return refuse();
    parts = JSON.parse(bytes.toString());
  } catch {
    return refuse();
  }
  if (!Array.isArray(parts) || parts.length !== names.length + 1 || parts[0] !== fingerprint(query)) return refuse();
  return Object.fromEntries(
    names.map((name, i) => {
      const text: unknown = parts[i + 1];
      return [name, { S: isFilledText(text) ? text : refuse() }];
    }),
  );
};
