import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { embedded } from '../support/dynamodb.js';
import { matchShop, at, type MatchShop } from './support/matches.js';
import { queue, topic, type Sent, type Source } from './support/sources.js';

const sources: Readonly<Record<string, (sent: readonly Sent[]) => Source>> = {
  sqs: (sent) => queue(sent, false),
  fifo: (sent) => queue(sent, true),
  kafka: topic,
};
const keys = ['a', 'bb', 'c'];
type Kind = 'score' | 'status' | 'gone' | 'poison';

/** What producers say, one event a version and key, and the order and multiplicity of its arrival. */
const scenario = fc
  .array(
    fc.record({
      key: fc.constantFrom(...keys),
      kind: fc.constantFrom<Kind>('score', 'score', 'status', 'status', 'gone', 'poison'),
    }),
    { minLength: 1, maxLength: 14 },
  )
  .chain((produced) =>
    fc.record({
      produced: fc.constant(produced),
      arrivals: fc.array(fc.nat({ max: produced.length - 1 }), { maxLength: 8 }).chain((repeated) => {
        const all = [...produced.keys(), ...repeated];
        return fc
          .shuffledSubarray([...all.keys()], { minLength: all.length })
          .map((order) => order.map((i) => all[i]!));
      }),
      source: fc.constantFrom(...Object.keys(sources)),
      sizes: fc.array(fc.integer({ min: 1, max: 10 }), { minLength: 1, maxLength: 4 }),
      /** By request: whether its answer is lost, before or after it took effect. */
      faults: fc.array(fc.constantFrom('none', 'none', 'before', 'after'), { maxLength: 12 }),
      /** By call: whether the failure destination fails. */
      refusals: fc.array(fc.boolean(), { maxLength: 4 }),
      partialResponses: fc.boolean(),
    }),
  );

interface Placed {
  readonly offset?: number;
  readonly messageId?: string;
}

/** Where a record stands among what was sent. */
const placeOf = ({ offset, messageId = '' }: Placed): number => offset ?? Number(messageId.slice(2));

/** An event, whose place in the production is its version. */
const eventOf = (run: number, key: string, kind: Kind, version: number): Sent => ({
  key: `${key}-${run}`.padEnd(12 + key.length, '.'),
  body: {
    score: JSON.stringify({ goals: version }),
    status: JSON.stringify({ status: `s${version}` }),
    gone: null,
    poison: '{',
  }[kind],
  headers: { at: at(version) },
});

describe.runIf(embedded)('whatever fails and however it arrives', () => {
  let run = 0;
  let shop: MatchShop;
  let fault: () => 'none' | 'before' | 'after' = () => 'none';
  let refuses = (): boolean => false;
  let aside: number[] = [];
  let partial: MatchShop;

  const open = async (): Promise<void> => {
    const local = {
      faults: ({ operation }: { operation: string }) => {
        const what = operation === 'UpdateItem' ? fault() : 'none';
        return what === 'none' ? undefined : ({ at: what, error: 'TransactionConflict' } as const);
      },
    };
    const options = {
      failureDestination: ({ record }: { record: unknown }) => {
        if (refuses()) throw new Error('no such queue');
        aside.push(placeOf(record as Placed));
      },
    };
    shop = await matchShop({ ...options, partialResponses: false }, local);
    partial = await matchShop({ ...options, partialResponses: true }, local);
  };

  test(
    'the state ends at the newest, and nothing is acknowledged that was not done',
    { timeout: 120_000 },
    async () => {
      await open();
      await fc.assert(
        fc.asyncProperty(
          scenario,
          async ({ produced, arrivals, source, sizes, faults, refusals, partialResponses }) => {
            run++;
            const target = partialResponses ? partial : shop;
            const sent = arrivals.map((i) => eventOf(run, produced[i]!.key, produced[i]!.kind, i + 1));
            const polled = sources[source]!(sent);
            let [request, hit, refusal] = [0, false, 0];
            aside = [];
            fault = () => {
              const what = faults[request++] ?? 'none';
              hit ||= what !== 'none';
              return what;
            };
            refuses = () => refusals[refusal++] ?? false;
            for (let batch = 0; polled.left() > 0; batch++) {
              hit = false;
              target.writes();
              const event = polled.next(sizes[batch % sizes.length]!);
              const response = await target.ingest(event).catch(() => undefined);
              const writes = target.writes();
              const pairs = pairsOf(event, sent, produced, arrivals);
              if (!hit && !pairs.some((pair) => pair.endsWith('gone'))) expect(writes).toBe(pairs.length);
              for (const i of polled.answer(response))
                await expectDone(target, i, sent[i]!, produced[arrivals[i]!]!.kind, arrivals[i]! + 1);
              if (batch > 200) throw new Error('no end');
            }
            for (const key of keys) {
              const id = eventOf(run, key, 'gone', 1).key;
              expect(await target.stored(id)).toEqual(model(id, key, produced));
            }
          },
        ),
        { numRuns: 150 },
      );
    },
  );

  /** The distinct pairs of key and group in a batch. */
  const pairsOf = (
    event: Parameters<MatchShop['ingest']>[0],
    sent: readonly Sent[],
    produced: readonly { key: string; kind: Kind }[],
    arrivals: readonly number[],
  ): string[] => {
    const records = 'records' in event ? Object.values(event.records).flat() : event.Records;
    const places = (records as readonly Placed[]).map(placeOf);
    const pairs = places.flatMap((i) => {
      const { kind } = produced[arrivals[i]!]!;
      return kind === 'poison' ? [] : [`${sent[i]!.key} ${kind}`];
    });
    return [...new Set(pairs)];
  };

  const expectDone = async (
    target: MatchShop,
    place: number,
    { key, body }: Sent,
    kind: Kind,
    version: number,
  ): Promise<void> => {
    if (kind === 'poison') {
      expect(aside).toContain(place);
      return;
    }
    const item = (await target.stored(key)) ?? {};
    const own = { score: item['scoreAt'], status: item['statusAt'], gone: item['goneAt'] }[kind] as string | undefined;
    const newest = [own ?? '', (item['goneAt'] as string | undefined) ?? ''].toSorted().at(-1)!;
    expect(newest >= at(version), `${body} was acknowledged`).toBe(true);
  };

  const model = (id: string, key: string, produced: readonly { key: string; kind: Kind }[]) => {
    const last = (kind: Kind): number =>
      produced.reduce((newest, event, i) => (event.key === key && event.kind === kind ? i + 1 : newest), 0);
    const gone = last('gone');
    const [score, status] = [last('score'), last('status')].map((version) => (version > gone ? version : 0)) as [
      number,
      number,
    ];
    if (gone + score + status === 0) return undefined;
    return {
      ...{ id, goals: score },
      ...(score > 0 && { scoreAt: at(score) }),
      ...(status > 0 && { status: `s${status}`, statusAt: at(status) }),
      ...(gone > 0 && { goneAt: at(gone) }),
      ...(gone > 0 && score + status === 0 && { gone: true }),
    };
  };
});
