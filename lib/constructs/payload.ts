/** What Lambda takes in one call; it ends a batch there, whatever its size. */
export const payloadBytes = 6 * 1024 * 1024;

/** About what a record has beside its body. */
export const recordOverhead = 1024;
