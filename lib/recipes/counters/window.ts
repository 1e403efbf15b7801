import { invalid } from '../../commands/errors/errors.js';

/** How long a window of a counter is; all begin at full UTC minutes, hours or days. */
export type Window = 'minute' | 'hour' | 'day';

const lengths: Readonly<Record<Window, { readonly characters: number; readonly ms: number }>> = {
  minute: { characters: 16, ms: 60_000 },
  hour: { characters: 13, ms: 3_600_000 },
  day: { characters: 10, ms: 86_400_000 },
};

/** Refuses what is no window. */
export const checkWindow = (window: Window): Window =>
  typeof window === 'string' && Object.hasOwn(lengths, window)
    ? window
    : invalid('window', "expected 'minute', 'hour' or 'day'");

/** The window's name: the start of its ISO time, such as `2026-12-01T10`, so that names sort as times do. */
export const windowOf = (at: Date, window: Window): string => {
  if (!(at instanceof Date) || Number.isNaN(at.getTime())) return invalid('at', 'expected a valid Date');
  const text = at.toISOString();
  return text.length === 24
    ? text.slice(0, lengths[window].characters)
    : invalid('at', 'expected a Date between the years 0 and 9999');
};

/** When the window of a time ends, in epoch milliseconds. */
export const windowEnd = (at: Date, window: Window): number => {
  const { ms } = lengths[window];
  return (Math.floor(at.getTime() / ms) + 1) * ms;
};
