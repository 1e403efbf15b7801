import { createHash } from 'node:crypto';
import { Buffer } from 'node:buffer';

/**
 * SHA-256 of several parts, as 43 characters of base64url. Each part is preceded by its length, so that no two lists of
 * parts are hashed alike.
 */
export const hashParts = (parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part;
    hash.update(`${bytes.byteLength}:`).update(bytes);
  }
  return hash.digest('base64url');
};
