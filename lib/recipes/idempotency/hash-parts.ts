import { hash } from 'node:crypto';
import { Buffer } from 'node:buffer';

/**
 * SHA-256 of several parts, as 43 characters of base64url. Each part is preceded by its length, so that no two lists of
 * parts are hashed alike.
 */
export const hashParts = (parts: readonly (string | Uint8Array)[]): string => {
  const hashed: Uint8Array[] = [];
  for (const part of parts) {
    // UTF-8 makes one of all lone surrogates, so text that has them is told apart by its code units.
    const encoding = typeof part === 'string' && !part.isWellFormed() ? 'utf16le' : 'utf8';
    const bytes = typeof part === 'string' ? Buffer.from(part, encoding) : part;
    hashed.push(Buffer.from(`${encoding === 'utf8' ? '' : 'u'}${bytes.byteLength}:`), bytes);
  }
  // At once: each call of a hash costs more than the bytes of most parts.
  return hash('sha256', Buffer.concat(hashed), 'base64url');
};
