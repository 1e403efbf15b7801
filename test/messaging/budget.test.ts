import { describe, expect, it } from 'vitest';
import { LimitExceededError, entity, string, table, type AttributeValue } from '../../lib/commands/index.js';
import { TestSession, sagaEntity, toItem } from '../../lib/messaging/index.js';
import { Process } from './support/transfer.js';

const Note = entity('NOTE', { pk: 'NOTE#{id}', sk: 'NOTE', attributes: { id: string(), text: string() } });
const Diary = sagaEntity('DIARY', { text: string().optional() });
const notes = table({ name: 'test', client: { send: () => undefined, config: {} } as never }).of(Note);
const put = (id: string, length = 1) => notes.put({ id, text: 'x'.repeat(length) });
const caught = (run: () => unknown): Error & { path?: string } => {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('expected an error');
};

describe('the room of a message', () => {
  it('leaves what a relay notes beside the events of an aggregate, as the outbox does', () => {
    const session = new TestSession();
    const of = { aggregate: 'a', sequence: 1 };
    const publish = (length: number) => session.publish({ type: 'e', detail: { text: 'x'.repeat(length) } }, of);
    publish(200_000);
    publish(200_000);
    expect(() => publish(8_000)).toThrow(LimitExceededError);
    publish(1_000);
    expect(session.events).toHaveLength(3);
  });

  it.each<[unknown, string]>([
    [{ sequence: 1 }, 'aggregate'],
    [{ aggregate: undefined, sequence: undefined }, 'aggregate'],
    [{}, 'aggregate'],
    [null, 'aggregate'],
    ['order:1', 'aggregate'],
    [{ aggregate: 5, sequence: 1 }, 'aggregate'],
    [{ aggregate: 'a' }, 'sequence'],
    [{ aggregate: 'a', sequence: null }, 'sequence'],
  ])('is refused to an order by half, which would be none', (of, path) => {
    const session = new TestSession();
    const refused = expect.objectContaining({ name: 'InvalidInputError', path }) as Error;
    expect(() => session.publish({ type: 'e', detail: {} }, of as never)).toThrow(refused);
    expect(session.events).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['publish', undefined],
    ['publish', null],
    ['publish', 'order.placed'],
    ['publish', {}],
    ['publish', { type: 'e' }],
    ['publish', { type: 5, detail: {} }],
    ['publish', { type: 'e', detail: 'text' }],
    ['publish', { type: 'e', detail: {}, time: 'now' }],
    ['publish', { type: 'e', detail: {}, id: 5 }],
    ['send', undefined],
    ['send', null],
    ['send', { type: 'e', detail: {} }],
    ['send', { to: 'a', detail: {} }],
    ['send', { to: 5, type: 'e', detail: {} }],
    ['send', { to: 'a/b', type: 'e', detail: {} }],
    ['send', { to: 'a', type: '', detail: {} }],
  ])('is refused to what %s can not take, with a typed error', (method, given) => {
    const session = new TestSession();
    const refused = expect.objectContaining({ name: 'InvalidInputError' }) as Error;
    expect(() => (session[method as 'publish'] as (event: unknown) => void)(given)).toThrow(refused);
    expect(session.events).toEqual([]);
    expect(session.commit()).toHaveLength(1);
  });

  it('is 100 operations: 1 inbox, 1 per aggregate, 1 for events without, 1 per saga, the rest the handler’s', async () => {
    const session = new TestSession();
    await session.saga(Process, 'a');
    await session.saga(Process, 'b');
    await session.saga(Process, 'a');
    for (const aggregate of ['x', 'y', 'x']) session.publish({ type: 'e', detail: {} }, { aggregate, sequence: 1 });
    session.publish({ type: 'e', detail: {} });
    session.send({ to: 'mail', type: 'e', detail: {} });
    for (let i = 1; i <= 94; i++) session.add(put(`n${i}`));
    const error = caught(() => session.add(put('one-more'), 'last'));
    expect(error).toBeInstanceOf(LimitExceededError);
    expect(error.message).toMatch(
      /^last: the transaction has 100 operations already, DynamoDB's limit: inbox 1 \(\d+ bytes\), outbox 3 \([\d,]+ bytes\), sagas 2 \(0 bytes\), the handler's own 94 \([\d,]+ bytes\); the largest are /,
    );
    expect(() => session.publish({ type: 'e', detail: {} }, { aggregate: 'z', sequence: 1 })).toThrow(/^outbox 4: /);
    await expect(session.saga(Process, 'c')).rejects.toThrow(/^saga PROCESS 3: /);
    // What has its operation already takes more.
    session.publish({ type: 'e', detail: {} }, { aggregate: 'y', sequence: 1 });
    expect(session.commit()).toHaveLength(100);
  });

  it('is not taken by a saga that was completed before', async () => {
    const session = new TestSession().given(Process, 'a', {}, { completed: true });
    for (let i = 1; i <= 98; i++) session.add(put(`n${i}`));
    await session.saga(Process, 'a');
    await session.saga(Process, 'a');
    session.add(put('n99'));
    expect(session.commit()).toHaveLength(100);
  });

  it('is 4 MB, and the error names the largest operations', () => {
    const session = new TestSession();
    for (let i = 0; i < 10; i++) session.add(put(`n${i}`, 400_000), `note${i}`);
    const error = caught(() => session.add(put('n11', 300_000), 'last'));
    expect(error).toBeInstanceOf(LimitExceededError);
    expect(error.path).toBe('last');
    expect(error.message).toContain('note0 (400,');
    expect(error.message).toMatch(
      /it has 300,\d{3}; before it, inbox 1 \(\d+ bytes\), the handler's own 10 \(4,000,\d{3}/,
    );
    // A smaller one still has room.
    session.add(put('n12', 100_000));
    expect(session.commit()).toHaveLength(12);
  });

  it('is 400 KB an item: a raw put, an outbox item, a saga', async () => {
    const session = new TestSession();
    const Item = toItem({ pk: 'a', sk: 'a', text: 'x'.repeat(409_700) });
    expect(caught(() => session.add({ Put: { TableName: 'test', Item } }, 'raw')).message).toMatch(
      /^raw: has 409,\d{3} bytes, more than the 409,600 of an item/,
    );
    const event = { type: 'e', detail: { text: 'x'.repeat(200_000) } };
    const of = { aggregate: 'a', sequence: 1 };
    session.publish(event, of);
    session.publish(event, of);
    expect(caught(() => session.publish(event, of)).message).toMatch(/^outbox 1: has 60\d,\d{3} bytes/);
    const diary = await session.saga(Diary, 'd');
    diary.state.text = 'x'.repeat(409_601);
    expect(caught(() => session.commit())).toBeInstanceOf(LimitExceededError);
  });

  it('is checked for sagas at the commit', async () => {
    const session = new TestSession();
    for (let i = 0; i < 10; i++) session.add(put(`n${i}`, 400_000));
    const diary = await session.given(Diary, 'd').saga(Diary, 'd');
    diary.state.text = 'x'.repeat(300_000);
    const error = caught(() => session.commit());
    expect(error).toBeInstanceOf(LimitExceededError);
    expect(error.message).toMatch(
      /^saga DIARY: takes the transaction to 4,3\d\d,\d{3} bytes, more than DynamoDB's 4 MB/,
    );
  });

  it('takes every item once, and says which two operations touch it', async () => {
    const session = new TestSession();
    session.add(put('a'), 'first');
    expect(caught(() => session.add(put('a'), 'second')).message).toBe(
      'second: touches the same item as first: a transaction takes each item once',
    );
    const raw = {
      Delete: { TableName: 'arn:aws:dynamodb:eu-west-1:1:table/test', Key: { sk: { S: 'NOTE' }, pk: { S: 'NOTE#a' } } },
    };
    expect(caught(() => session.add(raw)).message).toContain('Delete 2: touches the same item as first');
    await session.saga(Process, 'p');
    const saga = { Delete: { TableName: 'test', Key: { pk: { S: 'SAGA#PROCESS#p' }, sk: { S: 'SAGA' } } } };
    expect(caught(() => session.add(saga)).message).toContain('the same item as saga PROCESS');
  });

  it('knows a raw key of a table that it does not know, in any order, by its values', () => {
    const session = new TestSession();
    const remove = (Key: Record<string, AttributeValue>) => session.add({ Delete: { TableName: 'other', Key } });
    remove({ a: { S: '1' }, b: { B: new Uint8Array([1]) } });
    expect(() => remove({ b: { B: Buffer.from([1]) }, a: { S: '1' } })).toThrow('the same item');
    remove({ a: { S: '1' }, b: { B: new Uint8Array([2]) } });
    remove({ a: { N: '1' }, b: { B: new Uint8Array([1]) } });
    expect(session.operations).toHaveLength(3);
  });

  it('names operations by kind, place and entity where the caller does not', () => {
    const session = new TestSession();
    session.add(put('a'));
    session.add({ Delete: { TableName: 'other', Key: { id: { N: '1' } } } });
    session.add(notes.update({ id: 'b' }).set({ text: 'x' }));
    expect(session.operations.map(({ name }) => name)).toEqual(['Put 1 of NOTE', 'Delete 2', 'Update 3 of NOTE']);
    expect(() => session.add(put('c'), 'Delete 2')).toThrow('is the name of two operations');
    for (const name of ['inbox', 'outbox 1', 'saga', '', '__proto__']) {
      expect(() => session.add(put('d'), name)).toThrow(/^name: /);
    }
  });

  it('gives no operation a name that the caller gave another', () => {
    const session = new TestSession();
    const remove = (id: string) => ({ Delete: { TableName: 'other', Key: { id: { S: id } } } });
    session.add(remove('a'), 'Delete 2');
    session.add(remove('b'));
    session.add(remove('c'), 'Delete 4');
    session.add(remove('d'));
    session.add(remove('e'));
    expect(session.operations.map(({ name }) => name)).toEqual([
      'Delete 2',
      'Delete 3',
      'Delete 4',
      'Delete 5',
      'Delete 6',
    ]);
  });

  it('is as it was after an operation that was refused', () => {
    const session = new TestSession();
    session.add(put('a'), 'a');
    expect(() => session.add(put('a'), 'b')).toThrow();
    session.add(put('c'), 'b');
    expect(session.operations).toHaveLength(2);
  });

  it('takes one sequence per aggregate', () => {
    const session = new TestSession();
    session.publish({ type: 'e', detail: {} }, { aggregate: 'a', sequence: 1 });
    expect(() => session.publish({ type: 'e', detail: {} }, { aggregate: 'a', sequence: 2 })).toThrow(/^sequence: /);
  });
});
