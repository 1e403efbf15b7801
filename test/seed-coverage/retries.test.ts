// What docs/retries.md says of the second attempt after a lost response, where no other test shows it.
import { describe, expect, test } from 'vitest';
import {
  ConditionalCheckFailedException,
  batchWrite,
  createTable,
  entity,
  integer,
  list,
  string,
  stringSet,
  table,
  transactWrite,
  version,
} from '../../lib/commands/index.js';
import { claimOn, outbox, uniqueClaims } from '../../lib/recipes/index.js';
import { fresh, testShop } from '../support/recipe-shop.js';
import { uniqueTableName } from '../support/dynamodb.js';

const Note = entity('NOTE', {
  pk: 'NOTE#{id}',
  sk: 'NOTE',
  attributes: {
    id: string(),
    text: string().optional(),
    count: integer().default(0),
    lines: list(string()).default([]),
    tags: stringSet(),
  },
});
const Cart = entity('CART', {
  pk: 'CART#{id}',
  sk: 'CART',
  attributes: { id: string(), owner: string().optional(), revision: version() },
});
const db = testShop();
const notes = () => db.shop.of(Note);
const read = async (id: string) => (await notes().get({ id }).consistent().item())!;
const put = async (lines: string[] = []): Promise<string> => {
  const id = fresh();
  await notes().put({ id, text: 'first', lines, tags: new Set(['a', 'b']) });
  return id;
};
/** Another writer after the first attempt, whose response is lost. */
const meanwhile = (operation: string, write: () => Promise<unknown>): void => {
  db.afterNext(operation, async () => {
    await write();
    throw Object.assign(new Error('The response was lost'), { name: 'TimeoutError' });
  });
};

describe('the second attempt of', () => {
  test('a put undoes a writer that came between, where no version stops it', async () => {
    const id = await put();
    meanwhile('PutItem', () => notes().update({ id }).set({ text: 'other' }));
    await notes().put({ id, text: 'mine', tags: new Set() });
    expect((await read(id)).text).toBe('mine');
    const cart = fresh();
    const carts = db.shop.of(Cart);
    meanwhile('PutItem', () => carts.update({ id: cart }).set({ owner: 'other' }).ignoreVersion());
    expect((await carts.put({ id: cart, owner: 'mine' }).trySend()).conditionMet).toBe(false);
    expect((await carts.get({ id: cart }).item())?.owner).toBe('other');
  });

  test('a put with ifNotExists() fails, and sees what the first one wrote', async () => {
    const item = { id: fresh(), count: 0, lines: [], tags: new Set<string>() };
    db.loseResponseOf('PutItem');
    expect(await notes().unique(item).returnOldOnFailure().trySend()).toEqual({ conditionMet: false, item });
  });

  test('a write with returnOld() gives what the first one wrote', async () => {
    const id = await put();
    db.loseResponseOf('UpdateItem');
    expect((await notes().update({ id }).set({ text: 'second' }).returnOld()).item?.text).toBe('second');
    db.loseResponseOf('DeleteItem');
    expect((await notes().delete({ id }).returnOld()).item).toBeUndefined();
  });

  test('an add counts twice, also in return() and in expression text', async () => {
    const id = await put();
    db.loseResponseOf('UpdateItem');
    expect(await notes().update({ id }).add(Note.attrs.count, 1).return(Note.attrs.count)).toBe(2);
    db.loseResponseOf('UpdateItem');
    const { count } = Note.attrs;
    await notes()
      .update({ id })
      .set(count, Note.text`${count} + ${count.value(1)}`);
    expect((await read(id)).count).toBe(4);
  });

  test('an append or prepend adds twice', async () => {
    const id = await put(['x']);
    db.loseResponseOf('UpdateItem');
    await notes().update({ id }).append(Note.attrs.lines, ['y']);
    db.loseResponseOf('UpdateItem');
    await notes().update({ id }).prepend(Note.attrs.lines, ['w']);
    expect((await read(id)).lines).toEqual(['w', 'w', 'x', 'y', 'y']);
  });

  test('a remove of a list element takes the next one too, and a set past the end adds twice', async () => {
    const id = await put(['a', 'b', 'c']);
    db.loseResponseOf('UpdateItem');
    await notes().update({ id }).remove(Note.attrs.lines.at(0));
    expect((await read(id)).lines).toEqual(['c']);
    db.loseResponseOf('UpdateItem');
    await notes().update({ id }).set(Note.attrs.lines.at(9), 'd');
    expect((await read(id)).lines).toEqual(['c', 'd', 'd']);
    db.loseResponseOf('UpdateItem');
    await notes().update({ id }).set(Note.attrs.lines.at(0), 'e');
    expect((await read(id)).lines).toEqual(['e', 'd', 'd']);
  });

  test('an add to a set, deleteFrom(), setIfNotExists() and remove() change nothing', async () => {
    const id = await put();
    const { tags, text, count } = Note.attrs;
    db.loseResponseOf('UpdateItem');
    await notes().update({ id }).add(tags, ['c']).remove(text).setIfNotExists(count, 5);
    db.loseResponseOf('UpdateItem');
    await notes().update({ id }).deleteFrom(tags, ['a']);
    expect(await read(id)).toEqual({ id, count: 0, lines: [], tags: new Set(['b', 'c']) });
  });

  test('an update with ignoreVersion() moves the version twice', async () => {
    const carts = db.shop.of(Cart);
    const id = fresh();
    await carts.put({ id });
    db.loseResponseOf('UpdateItem');
    await carts.update({ id }).set({ owner: 'a' }).ignoreVersion();
    expect((await carts.get({ id }).item())?.revision).toBe(3);
  });

  test('a checked update or delete fails', async () => {
    const carts = db.shop.of(Cart);
    const id = fresh();
    await carts.put({ id });
    db.loseResponseOf('UpdateItem');
    expect((await carts.update({ id }).set({ owner: 'a' }).ifVersion(1).trySend()).conditionMet).toBe(false);
    db.loseResponseOf('DeleteItem');
    expect((await carts.delete({ id }).ifVersion(2).trySend()).conditionMet).toBe(false);
    expect(await carts.get({ id }).item()).toBeUndefined();
    const note = await put();
    db.loseResponseOf('DeleteItem');
    await expect(notes().delete({ id: note }).ifExists().send()).rejects.toThrow(ConditionalCheckFailedException);
    expect(await notes().get({ id: note }).item()).toBeUndefined();
  });

  test('a delete takes an item that was created between', async () => {
    const id = await put();
    meanwhile('DeleteItem', () => notes().put({ id, text: 'new', tags: new Set() }));
    await notes().delete({ id });
    expect(await notes().get({ id }).item()).toBeUndefined();
  });

  test('a batch undoes a writer that came between', async () => {
    const id = await put();
    meanwhile('BatchWriteItem', () => notes().update({ id }).set({ text: 'other' }));
    await batchWrite(db.shop, [notes().put({ id, text: 'mine', tags: new Set() })]);
    expect((await read(id)).text).toBe('mine');
  });

  test('a createTable() finds the table of the first one', async () => {
    const create = () => createTable(table({ name: uniqueTableName('lost'), client: db.client }));
    db.loseResponseOf('CreateTable');
    await expect(create().send()).rejects.toMatchObject({ name: 'ResourceInUseException' });
    db.loseResponseOf('CreateTable');
    expect((await create().ifNotExists().send()).created).toBe(false);
  });
});

describe('of a recipe', () => {
  const Claim = entity('CLAIM', {
    pk: 'CLAIM#{value}',
    sk: 'CLAIM',
    attributes: { value: string(), owner: string() },
  });
  const Mailbox = entity('MAILBOX', {
    pk: 'MAILBOX#{id}',
    sk: 'MAILBOX',
    attributes: { id: string(), email: string() },
  });

  test('the second attempt of a change of the spelling finds it changed', async () => {
    const users = uniqueClaims(db.shop.of(Mailbox), {
      owner: ({ id }) => id,
      claims: {
        email: claimOn(db.shop.of(Claim), {
          item: (value: string, owner: string) => ({ value, owner }),
          owner: 'owner',
          normalize: (value) => value.toLowerCase(),
        }),
      },
    });
    const id = fresh();
    await users.register({ id, email: id });
    db.loseResponseOf('UpdateItem');
    expect(await users.change({ id }, 'email', { from: id, to: id.toUpperCase() })).toBe('AlreadyChanged');
    expect((await db.shop.of(Mailbox).get({ id }).item())?.email).toBe(id.toUpperCase());
  });

  test('an event of an aggregate is not published again by its transaction: the version stops it', async () => {
    const id = fresh();
    const publish = () =>
      transactWrite(db.shop, {
        cart: db.shop.of(Cart).put({ id }),
        event: outbox(db.shop, { source: 'carts' }).publish({
          aggregate: `cart:${id}`,
          sequence: 1,
          events: [{ type: 'cart.made', detail: {} }],
        }),
      }).trySend();
    expect((await publish()).committed).toBe(true);
    expect(await publish()).toMatchObject({ failed: { cart: { reason: 'ConditionalCheckFailed' } } });
  });
});
