import { Buffer } from 'node:buffer';
import { hashParts } from './hash-parts.js';

/**
 * The key that a provider gets for an effect, the same for all attempts of a call: derived, so that not even a record
 * that is lost changes it. A UUID, which is short enough for any provider; of version 8, the one for hashes
 * (https://www.rfc-editor.org/rfc/rfc9562#section-5.8).
 *
 * @param key the stored key of the call, see `idempotencyKey`
 */
export const providerKeyOf = (key: string, point: string): string => {
  const bytes = Buffer.from(hashParts(['provider', key, point]), 'base64url').subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};
