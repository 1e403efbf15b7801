import { transactWrite, type Table } from '../../../lib/commands/index.js';
import {
  outbox,
  type OutboxEvent,
  type PublishAnswer,
  type Publisher,
  type RelayedEvent,
} from '../../../lib/recipes/index.js';

export const ok: PublishAnswer = { ok: true };
export const failed = (retryable: boolean, reason = 'InternalFailure'): PublishAnswer => ({
  ok: false,
  retryable,
  reason,
});

/** A target that remembers what arrived, in what batches; `answer` decides about each event. */
export interface Target extends Publisher {
  readonly arrived: RelayedEvent[];
  readonly batches: string[][];
  answer: (event: RelayedEvent) => PublishAnswer;
}

export const target = (limits: Omit<Publisher, 'publish'> = {}): Target => ({
  ...limits,
  arrived: [],
  batches: [],
  answer: () => ok,
  publish(events) {
    this.batches.push(events.map(({ id }) => id));
    return Promise.resolve(
      events.map((event) => {
        const answer = this.answer(event);
        if (answer.ok) this.arrived.push(event);
        return answer;
      }),
    );
  },
});

export const ids = (events: readonly { readonly id: string }[]): string[] => events.map(({ id }) => id);

/** Commits publications of an aggregate, each with events of these ids. */
export const commit = async (
  shop: Table,
  aggregate: string,
  sequence: number,
  eventIds: readonly string[],
  { shards = 2, ...change }: Partial<OutboxEvent> & { shards?: number } = {},
): Promise<void> => {
  const events = eventIds.map((id) => ({ type: 'happened', detail: {}, ...change, id }));
  await transactWrite(shop, {
    event: outbox(shop, { source: 'test', shards }).publish({ aggregate, sequence, events }),
  });
};
