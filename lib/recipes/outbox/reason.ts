/** The text as a reason, if it is a code; anything else may hold what belongs in no log. */
export const asReason = (text: unknown): string =>
  typeof text === 'string' && /^[\w.:-]{1,64}$/.test(text) ? text : 'Unknown';

/** An error as a reason: its name. */
export const reasonOf = (error: unknown): string => asReason((error as { name?: unknown } | null | undefined)?.name);
