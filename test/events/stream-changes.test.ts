import { describe, expect, test } from 'vitest';
import { binary, binarySet, entity, integer, list, map, string, table } from '../../lib/commands/index.js';
import { streamChanges, type StreamImage } from '../../lib/events/index.js';
import { streamRecord } from './support/events.js';
import { reasonOf } from './support/reason.js';

describe('a stream', () => {
  const Doc = entity('DOC', {
    pk: 'DOC#{id}',
    sk: 'S',
    attributes: {
      id: string(),
      n: integer().default(0),
      data: binary().optional(),
      parts: binarySet(),
      inner: map({ raws: list(binary()) }).optional(),
    },
  });
  const Note = entity('NOTE', { pk: 'NOTE#{id}', sk: 'S', attributes: { id: string() } });
  const shop = table({ name: 'shop', client: { send: () => undefined } as never });
  const { decode } = streamChanges(shop, [Doc, Note]);
  const image = (n: string): StreamImage => ({
    ...{ pk: { S: 'DOC#a' }, sk: { S: 'S' }, _type: { S: 'DOC' }, n: { N: n }, data: { B: 'AQI=' } },
    ...{ parts: { BS: ['AQ==', 'Ag=='] }, inner: { M: { raws: { L: [{ B: 'Aw==' }] } } } },
  });
  const doc = (n: number) => ({
    ...{ id: 'a', n, data: Buffer.from([1, 2]), parts: new Set([Buffer.from([1]), Buffer.from([2])]) },
    inner: { raws: [Buffer.from([3])] },
  });
  const plain = (item: unknown): unknown =>
    JSON.parse(
      JSON.stringify(item, (_, value: unknown) =>
        value instanceof Set ? [...(value as Set<Uint8Array>)].map((one) => Buffer.from(one)) : value,
      ) ?? 'null',
    );

  test.each([
    ['new and old', { newImage: image('2'), oldImage: image('1') }, doc(2), doc(1)],
    ['the new', { newImage: image('2') }, doc(2), undefined],
    ['the old', { oldImage: image('1') }, undefined, doc(1)],
    ['keys only', {}, undefined, undefined],
  ])('with %s gives typed items and the key', async (_, images, newItem, oldItem) => {
    const change = await decode(streamRecord({ pk: 'DOC#a', sequence: '1', ...images }));
    expect(change).toMatchObject({ type: 'DOC', kind: 'MODIFY', key: { id: 'a' }, expired: false });
    expect([plain(change?.newItem), plain(change?.oldItem)]).toEqual([plain(newItem), plain(oldItem)]);
  });

  test('tells entities apart by discriminator, and by key where there is none', async () => {
    const of = async (pk: string, newImage?: StreamImage) =>
      (await decode(streamRecord({ pk, sequence: '1', ...(newImage && { newImage }) })))?.type;
    expect(await of('NOTE#a')).toBe('NOTE');
    expect(await of('NOTE#a', { pk: { S: 'NOTE#a' }, sk: { S: 'S' }, _type: { S: 'NOTE' } })).toBe('NOTE');
    expect(await of('DOC#a', { pk: { S: 'DOC#a' }, sk: { S: 'S' }, _type: { S: 'OTHER' } })).toBeUndefined();
    expect(await of('OTHER#a')).toBeUndefined();
  });

  test('tells removals by time to live from others', async () => {
    const removed = streamRecord({ pk: 'DOC#a', sequence: '1', kind: 'REMOVE', oldImage: image('1') });
    const service = { type: 'Service', principalId: 'dynamodb.amazonaws.com' };
    expect((await decode({ ...removed, userIdentity: service }))?.expired).toBe(true);
    expect((await decode(removed))?.expired).toBe(false);
    expect((await decode({ ...removed, userIdentity: { ...service, type: 'User' } }))?.expired).toBe(false);
    // Only what is gone has expired.
    expect((await decode({ ...removed, eventName: 'MODIFY', userIdentity: service }))?.expired).toBe(false);
  });

  test.each([
    ['an image that does not match', { newImage: { ...image('1'), n: { S: 'x' } } }, 'image'],
    ['an old image that does not match', { newImage: image('1'), oldImage: { ...image('1'), n: { S: 'x' } } }, 'image'],
    ['a key of another form', { pk: 'NO', newImage: image('1') }, 'image'],
  ])('%s is poison', async (_, change, reason) => {
    expect(await reasonOf(() => decode(streamRecord({ pk: 'DOC#a', sequence: '1', ...change })))).toBe(reason);
  });

  test('a record without keys or change is poison', async () => {
    expect(await reasonOf(() => decode({ eventName: 'MODIFY' }))).toBe('body');
    const { eventName: _, ...record } = streamRecord({ pk: 'DOC#a', sequence: '1' });
    expect(await reasonOf(() => decode(record))).toBe('body');
  });
});
