import type { ParsedUpdate } from './update-aliasing.js';

type Action = ParsedUpdate['sections'][number];

/**
 * Orders the actions of an update so that dynalite, which applies one after the other, finds each list element where the
 * item had it: what takes elements away comes last, from the end of a list to its start.
 */
export function orderActions(update: ParsedUpdate): void {
  if (update.sections.length < 2) return;
  const takesAway = ({ type }: Action): boolean => type === 'remove' || type === 'delete';
  update.sections = [
    ...update.sections.filter((action) => !takesAway(action)),
    ...update.sections.filter(takesAway).sort(fromTheEnd),
  ];
}

function fromTheEnd({ path: a }: Action, { path: b }: Action): number {
  const at = a.findIndex((step, i) => step !== b[i]);
  const one = a[at];
  const other = b[at];
  if (typeof one === 'number' && typeof other === 'number') return other - one;
  return String(one) < String(other) ? -1 : 1;
}
