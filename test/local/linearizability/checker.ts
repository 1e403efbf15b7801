/** The values of all keys of a history: undefined is an absent item. */
export type State = readonly (number | undefined)[];

/** One call of a history: when it began and ended, and what it must have found and left. */
export interface Call {
  invoked: number;
  returned: number;
  /** The state after the call, or undefined when its answer could not have come from this state. */
  apply(state: State): State | undefined;
}

/**
 * True when there is an order of all calls, each at a moment between its beginning and its end, in which every answer is
 * right. Depth-first search over the calls that could come next, with what has been tried remembered (Wing and Gong,
 * with Lowe's cache).
 */
export function linearizable(calls: readonly Call[], initial: State): boolean {
  const sorted = [...calls].sort((a, b) => a.invoked - b.invoked);
  const done = new Uint8Array(sorted.length);
  const tried = new Set<string>();

  const search = (first: number, state: State): boolean => {
    while (done[first] === 1) first += 1;
    if (first === sorted.length) return true;
    const visit = `${first}|${doneAfter(first)}|${state.join(',')}`;
    if (tried.has(visit)) return false;
    tried.add(visit);
    // A call can come next if it began before every other open call ended.
    let deadline = Infinity;
    for (let i = first; i < sorted.length && sorted[i]!.invoked < deadline; i += 1) {
      if (done[i] === 0) deadline = Math.min(deadline, sorted[i]!.returned);
    }
    for (let i = first; i < sorted.length && sorted[i]!.invoked < deadline; i += 1) {
      if (done[i] === 1) continue;
      const next = sorted[i]!.apply(state);
      if (!next) continue;
      done[i] = 1;
      if (search(first, next)) return true;
      done[i] = 0;
    }
    return false;
  };
  /** Which calls behind the first open one are done: they reach only as far as calls overlap. */
  const doneAfter = (first: number): string => {
    const ids: number[] = [];
    for (let i = first + 1, gap = 0; i < sorted.length && gap < 64; i += 1) {
      if (done[i] === 1) {
        ids.push(i);
        gap = 0;
      } else gap += 1;
    }
    return ids.join(',');
  };
  return search(0, initial);
}
