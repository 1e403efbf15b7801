import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { entity, scan, string, table } from '../../lib/commands/index.js';

const Note = entity('NOTE', { pk: 'NOTE#{id}', sk: 'NOTE', attributes: { id: string() } });

interface ScanInput {
  readonly Segment: number;
  readonly TotalSegments: number;
  readonly ExclusiveStartKey?: { readonly pk: { readonly S: string } };
}
interface Call {
  readonly input: ScanInput;
  readonly aborted: () => boolean;
  answer(ids: readonly string[], more: boolean): void;
  fail(error: Error): void;
}

/** A client whose answers the test gives by hand. */
const byHand = (): { calls: Call[]; client: DynamoDBClient; settle: () => Promise<void> } => {
  const calls: Call[] = [];
  const client = {
    config: {},
    send: (command: { input: ScanInput }, { abortSignal }: { abortSignal: AbortSignal }) =>
      new Promise((resolve, reject) => {
        abortSignal.addEventListener('abort', () => reject(new Error('aborted')));
        calls.push({
          input: command.input,
          aborted: () => abortSignal.aborted,
          answer: (ids, more) =>
            resolve({
              Items: ids.map((id) => ({
                pk: { S: `NOTE#${id}` },
                sk: { S: 'NOTE' },
                _type: { S: 'NOTE' },
                id: { S: id },
              })),
              ...(more && { LastEvaluatedKey: { pk: { S: `NOTE#${ids.at(-1)}` }, sk: { S: 'NOTE' } } }),
            }),
          fail: reject,
        });
      }),
  };
  return { calls, client: client as never, settle: () => new Promise((resolve) => setImmediate(resolve)) };
};

describe('a scan in segments', () => {
  it('mixes the items of its segments as they come, reading one page ahead', async () => {
    const { calls, client, settle } = byHand();
    const items = scan(table({ name: 'shop', client }).of(Note))
      .segments(2)
      .items()
      [Symbol.asyncIterator]();
    const first = items.next();
    await settle();
    expect(calls.map(({ input }) => [input.Segment, input.TotalSegments])).toEqual([
      [0, 2],
      [1, 2],
    ]);
    calls[1]!.answer(['b1', 'b2'], true);
    expect((await first).value).toEqual({ id: 'b1' });
    // Asked for before anybody wants it, and only the one.
    expect(calls[2]!.input).toMatchObject({ Segment: 1, ExclusiveStartKey: { pk: { S: 'NOTE#b2' } } });
    calls[2]!.answer(['b3'], true);
    await settle();
    expect(calls).toHaveLength(3);
    expect((await items.next()).value).toEqual({ id: 'b2' });
    calls[0]!.answer(['a1'], false);
    // The page that came first is first, and a segment that ended is asked no more.
    expect((await items.next()).value).toEqual({ id: 'b3' });
    expect((await items.next()).value).toEqual({ id: 'a1' });
    await settle();
    expect(calls).toHaveLength(4);
    const end = items.next();
    calls[3]!.answer([], false);
    expect((await end).done).toBe(true);
  });

  it('stops all segments when its consumer stops', async () => {
    const { calls, client, settle } = byHand();
    const items = scan(table({ name: 'shop', client }).of(Note))
      .segments(3)
      .items()
      [Symbol.asyncIterator]();
    const first = items.next();
    await settle();
    calls[0]!.answer(['a'], true);
    await first;
    await items.return!();
    expect(calls.slice(1).map((call) => call.aborted())).toEqual([true, true, true]);
  });

  it('stops all segments when one fails, and throws its error', async () => {
    const { calls, client, settle } = byHand();
    const all = scan(table({ name: 'shop', client }).of(Note))
      .segments(3)
      .all();
    const outcome = expect(all).rejects.toThrow('no more');
    await settle();
    calls[1]!.fail(new Error('no more'));
    await outcome;
    expect([calls[0]!.aborted(), calls[2]!.aborted()]).toEqual([true, true]);
    await settle();
    expect(calls).toHaveLength(3);
  });

  it("stops with its caller's signal", async () => {
    const { calls, client, settle } = byHand();
    const stop = new AbortController();
    const all = scan(table({ name: 'shop', client }).of(Note))
      .segments(2)
      .all({ signal: stop.signal });
    const outcome = expect(all).rejects.toThrow('aborted');
    await settle();
    stop.abort();
    await outcome;
    expect(calls.every((call) => call.aborted())).toBe(true);
  });

  it('has at most 32 requests in flight', async () => {
    const { calls, client, settle } = byHand();
    const count = scan(table({ name: 'shop', client }).of(Note))
      .segments(40)
      .all();
    await settle();
    expect(calls).toHaveLength(32);
    calls[5]!.answer(['x'], false);
    await settle();
    expect(calls).toHaveLength(33);
    expect(calls[32]!.input.Segment).toBe(32);
    for (let i = 0; i < 40; i++) {
      calls[i]!.answer([], false);
      await settle();
    }
    expect(await count).toEqual([{ id: 'x' }]);
  });
});
