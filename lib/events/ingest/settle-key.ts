import { InvalidInputError, LimitExceededError } from '../../commands/index.js';
import type { PastThrottles } from '../../commands/retry/past-throttles.js';
import { EventTooLateError } from '../../recipes/index.js';
import type { Candidate, Contest, EventOutcome, EventResult, OrderedState } from '../../recipes/index.js';
import type { PoisonReason } from '../poison/poison-record-error.js';
import type { Deadline } from '../run/deadline.js';

/** What became of an event's part in one contest. */
export type PartEnding =
  | { readonly kind: 'settled'; readonly outcome: EventOutcome }
  | { readonly kind: 'refused'; readonly reason: PoisonReason; readonly error: Error }
  | { readonly kind: 'failed'; readonly error: unknown };

/** What a contest needs to be settled. */
export interface Settling<Ev> {
  readonly state: OrderedState<Ev, unknown>;
  readonly deadline: Deadline;
  /** Sends a write again that was throttled. */
  readonly past: PastThrottles;
  /** Why an event is refused for good, by what its write threw. */
  readonly refusalOf: (error: unknown) => PoisonReason | undefined;
  /** Takes the ending of a candidate's part. */
  readonly end: (candidate: Candidate<Ev>, ending: PartEnding) => void;
  /** Told of each write that was sent. */
  readonly written: () => void;
}

interface Written<Ev> {
  readonly event: Ev;
  readonly result: EventResult<unknown>;
}

/** The kit's other errors come of a request: what DynamoDB refused, and a stored item that can't be read. */
const isBeforeSending = (error: unknown): boolean =>
  [InvalidInputError, LimitExceededError, EventTooLateError].some((kind) => error instanceof kind);

/**
 * Settles the contests of one key, one after the other; the deletion comes first, since it decides many of the others.
 * Near the deadline the rest is left without an ending.
 */
export const settleKey = async <Ev extends { readonly deleted?: unknown }>(
  contests: readonly Contest<Ev>[],
  settling: Settling<Ev>,
): Promise<void> => {
  const isDeletion = ({ candidates }: Contest<Ev>): boolean => candidates[0]?.event.deleted !== undefined;
  const [deletions, others] = [contests.filter(isDeletion), contests.filter((contest) => !isDeletion(contest))];
  let deletion: Written<Ev> | undefined;
  for (const { candidates } of deletions) deletion = await settleContest(candidates, undefined, settling);
  for (const { candidates } of others) await settleContest(candidates, deletion, settling);
};

/**
 * Writes the newest candidate and settles the others by its result. One that is refused for its content gives way to the
 * next; one whose write fails fails the others too: whether something newer is stored is then not known.
 */
const settleContest = async <Ev>(
  candidates: readonly Candidate<Ev>[],
  known: Written<Ev> | undefined,
  settling: Settling<Ev>,
): Promise<Written<Ev> | undefined> => {
  const { state, deadline, past, end } = settling;
  let last = known;
  let pending = last === undefined ? candidates : undecided(candidates, last, settling);
  for (;;) {
    const [winner, ...others] = pending;
    if (winner === undefined || deadline.isNear) return last;
    try {
      const result = await past(() => state.apply(winner.event, { signal: deadline.signal }));
      settling.written();
      end(winner, { kind: 'settled', outcome: result.outcome });
      last = { event: winner.event, result };
    } catch (error) {
      if (!isBeforeSending(error)) settling.written();
      const reason = settling.refusalOf(error);
      if (reason === undefined) {
        for (const candidate of pending) end(candidate, { kind: 'failed', error });
        return last;
      }
      end(winner, { kind: 'refused', reason, error: error as Error });
      pending = others;
      continue;
    }
    pending = undecided(others, last, settling);
  }
};

/** Settles what a result decides, and gives the rest. */
const undecided = <Ev>(
  candidates: readonly Candidate<Ev>[],
  { event, result }: Written<Ev>,
  { state, end, refusalOf }: Settling<Ev>,
): readonly Candidate<Ev>[] =>
  candidates.filter((candidate) => {
    try {
      const outcome = state.settle(candidate.event, event, result);
      if (outcome === undefined) return true;
      end(candidate, { kind: 'settled', outcome });
    } catch (error) {
      const reason = refusalOf(error);
      end(
        candidate,
        reason === undefined ? { kind: 'failed', error } : { kind: 'refused', reason, error: error as Error },
      );
    }
    return false;
  });
