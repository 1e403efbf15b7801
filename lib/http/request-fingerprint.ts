import { fingerprintOf, type Fingerprint } from '../recipes/index.js';
import { headerValues, type HttpEvent } from './event.js';

/** Grows when {@link requestFingerprint} hashes something else. */
const algorithm = 1;

/**
 * What tells a repeat from another request with its key: method, path, query, content type and the bytes of the body, as
 * they were sent. A client that writes the same JSON in another way sends another request.
 */
export const requestFingerprint = (event: HttpEvent, body: Uint8Array): Fingerprint =>
  fingerprintOf(algorithm, [
    event.requestContext.http.method,
    event.rawPath,
    event.rawQueryString ?? '',
    headerValues(event, 'content-type').join(','),
    body,
  ]);
