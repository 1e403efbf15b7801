/** Rounded down: stored in whole seconds, a record must be taken over neither before its expiry nor after. */
export const second = (now: Date): Date => new Date(Math.floor(now.getTime() / 1000) * 1000);
