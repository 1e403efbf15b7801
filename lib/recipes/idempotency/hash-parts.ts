import { createHash } from 'node:crypto';
import { Buffer } from 'node:buffer';

/**
 * SHA-256 of several parts, as 43 characters of base64url. Each part is preceded by its length, so that no two lists of
 * parts are hashed alike.
 */
export const hashParts = (parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) {
    // UTF-8 makes one of all lone surrogates, so text that has them is told apart by its code units.
    const encoding = typeof part === 'string' && !part.isWellFormed() ? 'utf16le' : 'utf8';
    const bytes = typeof part === 'string' ? Buffer.from(part, encoding) : part;
    hash.update(encoding === 'utf8' ? `${bytes.byteLength}:` : `u${bytes.byteLength}:`).update(bytes);
  }
  return hash.digest('base64url');
};
