import { following, type PagedOutput, type PagedRequest } from '../read/paged-request.js';

/** Segments in flight at once; of more, the next starts when one ends. */
const atOnce = 32;

type Fetch = (request: PagedRequest, signal: AbortSignal) => Promise<PagedOutput>;

/**
 * The pages of all segments as they come. Each segment reads one page ahead and no further, so memory holds at most a
 * page per segment. When the consumer stops, or a segment fails, what is in flight is aborted.
 */
export async function* segmentPages(
  first: PagedRequest,
  total: number,
  fetch: Fetch,
  signal: AbortSignal | undefined,
): AsyncGenerator<PagedOutput, void, undefined> {
  const stop = new AbortController();
  const either = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const inFlight = new Map<number, Promise<{ request: PagedRequest; output: PagedOutput }>>();
  const ask = (request: PagedRequest): void => {
    const answer = fetch(request, either).then((output) => ({ request, output }));
    // One failure ends the scan; those of the others have nobody to go to.
    answer.catch(() => undefined);
    inFlight.set(request.Segment as number, answer);
  };
  let started = 0;
  const start = (): void => ask({ ...first, TotalSegments: total, Segment: started++ });
  try {
    while (started < Math.min(total, atOnce)) start();
    while (inFlight.size > 0) {
      const { request, output } = await Promise.race(inFlight.values());
      // Deleted and added again, a segment that answers fast goes to the end of the line.
      inFlight.delete(request.Segment as number);
      const next = following(request, output);
      if (next !== undefined) ask(next);
      else if (started < total) start();
      yield output;
    }
  } finally {
    stop.abort();
  }
}
