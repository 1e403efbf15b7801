import { createHash } from 'node:crypto';

/**
 * The message group of an aggregate: its name, or where FIFO queues and topics don't take that (1 to 128 visible ASCII
 * characters), its hash.
 */
export const messageGroupOf = (aggregate: string): string =>
  /^[!-~]{1,128}$/.test(aggregate) ? aggregate : `sha256:${createHash('sha256').update(aggregate).digest('hex')}`;
