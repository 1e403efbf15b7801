import { ingestHandler } from '../../../lambdas/ingest/ingest-handler.js';
import { LiveMatch } from '../../../lambdas/ingest/live-match.js';
import { boolean, entity, integer, string, toTimestamp } from '../../../lib/commands/index.js';
import type { SeededRandom } from '../../../lib/local/index.js';
import { orderedGroups, orderedItems, type EventOutcome } from '../../../lib/recipes/index.js';
import { kafkaEvent, sqsEvent } from '../../events/support/events.js';
import { BrokenError, makeShop, must, shopOf, workload } from '../workload.js';

const Standing = entity('STANDING', {
  pk: 'STANDING#{id}',
  sk: 'STANDING',
  attributes: { id: string(), points: integer().default(0), seq: integer(), gone: boolean().optional() },
});
const Pair = entity('PAIR', {
  pk: 'PAIR#{id}',
  sk: 'PAIR',
  attributes: {
    id: string(),
    left: integer().optional(),
    leftSeq: integer().optional(),
    right: integer().optional(),
    rightSeq: integer().optional(),
  },
});

type Kind = 'score' | 'status' | 'removed' | 'standing' | 'gone' | 'left' | 'both';
/** What producers say; the version is its place. */
interface Fact {
  readonly kind: Kind;
  readonly id: string;
  readonly version: number;
}
interface Batch {
  readonly source: 'sqs' | 'fifo' | 'kafka';
  readonly facts: readonly Fact[];
}

const live = new Set<Kind>(['score', 'status', 'removed']);
const at = (version: number): string => new Date(Date.UTC(2025, 11, 31, 12, version)).toISOString();

/** State per key and group is that of the newest event delivered, whatever their order and multiplicity. */
export const ingest = workload<Batch, ReturnType<typeof appOf>>('ingest', { faults: { conflict: 0.2 } }, () => {
  const waiting = new Set<Batch>();
  const delivered = new Set<Fact>();
  const applied = new Set<Fact>();
  const deliver = async (app: ReturnType<typeof appOf>, batch: Batch): Promise<void> => {
    for (const fact of batch.facts) delivered.add(fact);
    const facts = batch.facts.filter(({ kind }) => live.has(kind));
    if (facts.length > 0) {
      const { batchItemFailures } = await app.handler(eventOf({ ...batch, facts }));
      if (batchItemFailures.length > 0) throw new Error('Some are to be delivered again.');
    }
    for (const fact of batch.facts.filter(({ kind }) => !live.has(kind))) {
      if ((await app.apply(fact)) !== 'Applied') continue;
      if (applied.has(fact)) throw new BrokenError(`The ${fact.kind} of version ${fact.version} was applied twice.`);
      applied.add(fact);
    }
    waiting.delete(batch);
  };
  return {
    prepare: makeShop,
    plan(random) {
      const facts = Array.from({ length: random.integer(2, 8) }, (_, version) => factOf(random, version));
      return Array.from({ length: random.integer(2, 3) }, () =>
        Array.from({ length: random.integer(1, 2) }, () => ({
          source: random.pick(['sqs', 'fifo', 'kafka'] as const),
          facts: Array.from({ length: random.integer(1, 5) }, () => random.pick(facts)),
        })),
      );
    },
    start: ({ clientConfig }) => appOf(clientConfig),
    async run(app, batch, { invariant }) {
      waiting.add(batch);
      try {
        await deliver(app, batch);
      } catch (error) {
        invariant(!(error instanceof BrokenError), (error as Error).message);
        throw error;
      }
    },
    async settle(app) {
      for (const batch of [...waiting]) await deliver(app, batch);
    },
    async check({ clientConfig }) {
      const shop = shopOf(clientConfig);
      for (const id of ['a', 'b']) {
        const newest = (...kinds: Kind[]): number =>
          Math.max(-1, ...[...delivered].filter((f) => f.id === id && kinds.includes(f.kind)).map((f) => f.version));
        const match = await shop.of(LiveMatch).get({ id }).item();
        const [score, status, removed] = [newest('score'), newest('status'), newest('removed')];
        const timeOf = (version: number, since = removed): string | undefined =>
          version > since ? toTimestamp(at(version)) : undefined;
        must(match?.scoreAt === timeOf(score), `The score of ${id} is not the newest.`);
        must((match?.homeGoals ?? 0) === (score > removed ? score : 0), `The goals of ${id} are not of its score.`);
        must(match?.statusAt === timeOf(status), `The status of ${id} is not the newest.`);
        must(match?.status === (status > removed ? `s${status}` : undefined), `The status of ${id} is another one.`);
        must(match?.deletedAt === timeOf(removed, -1), `The removal of ${id} is not the newest.`);
        const isGone = removed >= 0 && removed > Math.max(score, status);
        must((match?.deleted ?? false) === isGone, `${id} is ${isGone ? 'not ' : ''}removed.`);
        const standing = await shop.of(Standing).get({ id }).item();
        const [there, gone] = [newest('standing'), newest('gone')];
        must((standing?.seq ?? -1) === Math.max(there, gone), `The standing of ${id} is not the newest.`);
        must(
          (standing?.gone ?? false) === gone > there,
          `The standing of ${id} should ${gone > there ? '' : 'not '}be gone.`,
        );
        must((standing?.points ?? 0) === (there > gone ? there : 0), `The points of ${id} are of another standing.`);
        const pair = await shop.of(Pair).get({ id }).item();
        const [left, right] = [newest('left', 'both'), newest('both')];
        must((pair?.left ?? -1) === left && (pair?.leftSeq ?? -1) === left, `The left of ${id} is not the newest.`);
        must(
          (pair?.right ?? -1) === right && (pair?.rightSeq ?? -1) === right,
          `The right of ${id} is not the newest.`,
        );
      }
    },
  };
});

const factOf = (random: SeededRandom, version: number): Fact => ({
  kind: random.pick(['score', 'score', 'status', 'removed', 'standing', 'gone', 'left', 'both']),
  id: random.pick(['a', 'a', 'b']),
  version,
});

const eventOf = ({ source, facts }: Batch) => {
  const bodies = facts.map(({ kind, id, version }) => ({
    matchId: id,
    type: kind,
    at: at(version),
    ...(kind === 'score' && { home: version, away: 0 }),
    ...(kind === 'status' && { status: `s${version}` }),
  }));
  return source === 'kafka'
    ? kafkaEvent(...bodies.map((value, offset) => ({ offset, key: value.matchId, value })))
    : sqsEvent(...bodies.map((body, i) => ({ id: `m${i}`, body, ...(source === 'fifo' && { group: body.matchId }) })));
};

const appOf = (clientConfig: Parameters<typeof shopOf>[0]) => {
  const shop = shopOf(clientConfig);
  const standings = orderedItems(shop.of(Standing), { version: 'seq', deletion: { flag: 'gone', revives: true } });
  const pairs = orderedGroups(shop.of(Pair), {
    groups: {
      left: { version: 'leftSeq', fields: ['left'] },
      right: { version: 'rightSeq', fields: ['right'] },
    },
    several: 'each',
  });
  return {
    handler: ingestHandler(shop, { partialResponses: true, log: () => undefined }),
    async apply({ kind, id, version }: Fact): Promise<EventOutcome> {
      const stand = kind === 'standing' ? { item: { id, points: version, seq: version } } : undefined;
      if (stand !== undefined) return (await standings.apply(stand)).outcome;
      if (kind === 'gone') return (await standings.apply({ key: { id }, deleted: version })).outcome;
      const left = { left: version, leftSeq: version };
      const right = kind === 'both' ? { right: version, rightSeq: version } : undefined;
      return (await pairs.apply({ key: { id }, groups: { left, right } })).outcome;
    },
  };
};
