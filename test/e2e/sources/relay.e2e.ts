import { afterEach, expect, test } from 'vitest';
import { streamSource, type EventSource } from '../../../lib/local/index.js';
import { OutboxItem } from '../../../lib/recipes/index.js';
import { restarted } from './child.js';
import { commitEvents, type CommittedEvents } from './committed-events.js';
import { eventTarget, type Arrival } from './event-target.js';
import { servedTable } from './live-table.js';
import type { RelayAnswer, RelayCall, RelayProcessOptions } from './relay-process.js';
import { seeded } from './seed.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Run {
  /** How many of the entries the target refuses, of 1. */
  readonly refuses: number;
  readonly kills: number;
  readonly wokenBy: 'stream' | 'schedule';
}

const relayed = async (name: string, { refuses, kills, wokenBy }: Run) => {
  const random = seeded(name);
  const served = await servedTable('relayed', 'KEYS_ONLY');
  closing.push(() => served.close());
  const arrivals: Arrival[] = [];
  let [refused, killed, untilKill] = [0, 0, random.integer(2, 8)];
  const target = await eventTarget((events) => {
    const dies = killed < kills && --untilKill <= 0;
    // It dies before the target has taken them, or after, so that it never learns of it.
    const isLate = random.chance(0.5);
    const answers = dies && !isLate ? [] : events.map(() => ({ ok: !random.chance(refuses) }));
    answers.forEach(({ ok }, i) => {
      if (ok) arrivals.push(events[i]!);
      else refused++;
    });
    if (dies) {
      killed++;
      untilKill = random.integer(2, 8);
      void relay.end('SIGKILL');
      return undefined;
    }
    return answers.map(({ ok }) => (ok ? { ok: true } : { ok: false, retryable: true, reason: 'ThrottlingException' }));
  });
  closing.push(target.close);

  const waiting = new Map<number, (answer: RelayAnswer) => void>();
  const options: RelayProcessOptions = { endpoint: served.endpoint, table: served.name, target: target.url };
  const relay = await restarted('relay-process.ts', options, (answer: RelayAnswer) => waiting.get(answer.id)?.(answer));
  let calls = 0;
  const handler = async (event: object): Promise<unknown> => {
    const id = ++calls;
    if (!relay.isRunning) relay.begin();
    const answered = new Promise<RelayAnswer>((resolve) => waiting.set(id, resolve));
    relay.send({ id, event } satisfies RelayCall);
    const answer = await Promise.race([answered, relay.ended()]);
    waiting.delete(id);
    if (!answer) throw new Error('The relay was killed');
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.response;
  };

  let ahead = 0;
  const left = async (): Promise<number> => {
    let count = 0;
    for (let shard = 0; shard < 8; shard++) {
      for await (const _ of served.table.of(OutboxItem).query({ shard }).consistent().items()) count++;
    }
    return count;
  };
  // The clock of the mapping jumps over the pauses before retries.
  const source: EventSource | undefined =
    wokenBy === 'schedule'
      ? undefined
      : await streamSource({
          ...{ dynamodb: served.local, tableName: served.name, handler, batchSize: 25, reportBatchItemFailures: true },
          clock: () => Date.now() + ahead,
        });
  const work = async (): Promise<void> => {
    ahead += 1000;
    if (source !== undefined) await source.drain();
    else await handler({ 'detail-type': 'Scheduled Event' }).catch(() => undefined);
  };
  let events: CommittedEvents | undefined;
  const committing = commitEvents(served.table, random).then((done) => (events = done));
  while (events === undefined) await work();
  await committing;
  for (let turn = 0; turn < 500 && (await left()) > 0; turn++) await work();
  return { events, arrivals, refused, killed, left: await left() };
};

/** The first arrivals of each aggregate, in their order. */
const firsts = (arrivals: readonly Arrival[]): Map<string, string[]> => {
  const byAggregate = new Map<string, Set<string>>();
  for (const { aggregate, detail } of arrivals) {
    const { name } = JSON.parse(detail) as { name: string };
    const known = byAggregate.get(aggregate);
    if (known === undefined) byAggregate.set(aggregate, new Set([name]));
    else known.add(name);
  }
  return new Map([...byAggregate].map(([aggregate, names]) => [aggregate, [...names]]));
};

test.each<[string, Run]>([
  ['whose target refuses a third, woken by the stream', { refuses: 1 / 3, kills: 0, wokenBy: 'stream' }],
  ['killed ten times within a batch, woken by the stream', { refuses: 0.1, kills: 10, wokenBy: 'stream' }],
  [
    'killed ten times, whose target refuses a third, by the schedule alone',
    { refuses: 1 / 3, kills: 10, wokenBy: 'schedule' },
  ],
])('a relay %s, brings every committed event and no other, in order, and leaves none', async (name, run) => {
  const { events, arrivals, refused, killed, left } = await relayed(name, run);
  const committed = [...events.committed.values()].flat();
  expect(committed.length).toBeGreaterThan(300);
  expect(events.refused.size).toBeGreaterThan(20);
  expect(refused).toBeGreaterThan(run.refuses * committed.length * 0.5);
  expect(killed).toBe(run.kills);
  expect(left).toBe(0);
  expect(firsts(arrivals)).toEqual(events.committed);
});
