import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  batchGet,
  batchWrite,
  collection,
  createTable,
  entity,
  integer,
  scan,
  string,
  transactGet,
  transactWrite,
  version,
} from '../../lib/commands/index.js';
import { watchCommands, type CommandWatch } from '../../lib/local/index.js';
import { offlineTable } from './support/offline.js';

const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer(), revision: version() },
});
const Note = entity('NOTE', { pk: 'NOTE#{id}', sk: 'NOTE', attributes: { id: string(), text: string() } });

const shop = offlineTable();
const accounts = shop.of(Account);
const notes = shop.of(Note);
const key = { id: 'secret' };
const note = { ...key, text: 'secret' };

let watch: CommandWatch;
beforeEach(() => {
  watch = watchCommands();
});
afterEach(() => watch.stop());
const unsent = (): string[] => watch.unsent().map(({ what }) => what);

describe('watchCommands()', () => {
  it('reports a read without its terminal', () => {
    notes.get(key).consistent();
    notes.query(key).limit(1);
    scan(notes).segments(2);
    scan(notes).items();
    collection(shop, [Note]).query(key);
    expect(unsent()).toEqual(['get of NOTE', 'query of NOTE', 'scan of NOTE', 'scan of NOTE', 'query of NOTE']);
  });

  it('reports a versioned write without its decision', () => {
    accounts.update(key).set({ balance: 1 });
    accounts.delete(key);
    expect(unsent()).toEqual(['update of ACCOUNT', 'delete of ACCOUNT']);
  });

  it('reports a write that is dropped', () => {
    void notes.put(note).ifNotExists();
    void notes.delete(key);
    void createTable(shop).ifNotExists();
    expect(unsent()).toEqual(['put of NOTE', 'delete of NOTE', 'createTable']);
  });

  it('reports transactions and batches, and the steps that went nowhere with them', () => {
    transactGet(shop, { read: notes.get(key) }).returnCapacity();
    batchGet(shop, { read: notes.get(key) });
    void batchWrite(shop, [notes.put(note)]);
    void transactWrite(shop, { write: notes.put(note) });
    expect(unsent().sort()).toEqual(
      [
        'put of NOTE',
        'put of NOTE',
        'batchGet',
        'batchWrite',
        'get of NOTE',
        'get of NOTE',
        'transactGet',
        'transaction',
      ].sort(),
    );
  });

  it('is silent about what was sent, whatever came of it', async () => {
    const failed = (promise: Promise<unknown>): Promise<void> => expect(promise).rejects.toThrow('a request was sent');
    await failed(notes.put(note));
    await failed(notes.put(note).trySend());
    await failed(notes.get(key).item());
    await failed(scan(notes).segments(2).all());
    await failed(batchWrite(shop, [notes.put(note)]));
    expect(unsent()).toEqual([]);
  });

  it('is silent about what was rendered or given to a transaction or batch', () => {
    notes.get(key).toRequest();
    accounts.update(key).set({ balance: 1 }).ifVersion(3).toRequestJson();
    transactWrite(shop, { a: notes.put(note), b: accounts.delete(key).ifVersion(1) }).toRequest();
    transactGet(shop, { a: notes.get(key) }).toRequest();
    batchWrite(shop, [notes.put(note)]).toRequest();
    batchGet(shop, { a: notes.get(key) }).toRequest();
    createTable(shop).toRequest();
    expect(unsent()).toEqual([]);
    expect(() => watch.assertNoneUnsent()).not.toThrow();
  });

  it('takes a command that was forked for used, and reports each fork', () => {
    const prefix = notes.query(key);
    prefix.limit(1).toRequest();
    expect(unsent()).toEqual([]);
    prefix.limit(2);
    expect(unsent()).toEqual(['query of NOTE']);
    // The prefix itself may be sent too.
    prefix.toRequest();
    expect(watch.unsent()).toHaveLength(1);
  });

  it("tells where a command was built, and shows nothing of the library's own", () => {
    const build = (): void => void notes.get(key).consistent().project('text');
    build();
    const [{ stack } = { stack: '' }] = watch.unsent();
    expect(stack.split('\n')[0]).toMatch(/at build .*unsent\.test\.ts:\d+:\d+/);
    expect(stack).not.toContain('lib/commands/');
    expect(stack).not.toContain('lib/local/');
  });

  it('throws all of it, with no key or value, and starts over', () => {
    notes.get(key).consistent();
    void notes.put(note);
    const thrown = (): Error | undefined => {
      try {
        watch.assertNoneUnsent();
        return undefined;
      } catch (error) {
        return error as Error;
      }
    };
    const message = thrown()?.message ?? '';
    expect(message).toMatch(/^2 commands were built and never sent:\n- get of NOTE\n +at .*unsent\.test\.ts/);
    expect(message).toMatch(/\n- put of NOTE\n/);
    expect(message).not.toContain('secret');
    expect(thrown()).toBeUndefined();
    notes.get(key).consistent();
    expect(thrown()?.message).toMatch(/^A command was built and never sent:/);
  });

  it('sees nothing after it was stopped, and several can watch', () => {
    const other = watchCommands();
    notes.get(key).consistent();
    other.stop();
    notes.get(key).consistent();
    expect([other.unsent().length, watch.unsent().length]).toEqual([1, 2]);
  });
});
