import { backoff } from '../../commands/retry/backoff.js';
import type { Batches, Sent } from './batches.js';
import type { RelayedEvent } from './publisher.js';

/** How often events are sent, and until when. */
export interface SendTerms {
  readonly sends: number;
  readonly signal: AbortSignal | undefined;
}

/** Sends a leading part of an aggregate's events, and again what may succeed the next time, with waits in between. */
export const sendLeading = async (
  batches: Batches,
  events: readonly RelayedEvent[],
  { sends, signal }: SendTerms,
): Promise<Sent> => {
  for (let run = 1; ; run++) {
    const { accepted, failure } = await batches.publish(events);
    // What was accepted is on its way to be removed while the next one is tried again.
    if (failure === undefined || (accepted > 0 && failure.retryable)) return { accepted, failure: undefined };
    if (!failure.retryable || run >= sends) return { accepted, failure };
    await batches.idle(() => backoff(run, signal).catch(() => undefined));
    if (signal?.aborted === true) return { accepted, failure: { ...failure, counts: false } };
  }
};
