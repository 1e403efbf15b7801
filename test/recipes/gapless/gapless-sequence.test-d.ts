import { expectTypeOf, it } from 'vitest';
import { entity, integer, string, version, type Item, type Table } from '../../../lib/commands/index.js';
import { increment } from '../../../lib/recipes/counters/increment.js';
import type { GaplessSequence } from '../../../lib/recipes/gapless/gapless-sequence.js';
import { type NumberMember } from '../../../lib/recipes/gapless/gapless-sequence.js';
import { hiLo, hiLoBigint } from '../../../lib/recipes/hi-lo/hi-lo.js';

const Receipt = entity('RECEIPT', {
  pk: 'RECEIPT#{shop}',
  sk: '{slot:4}',
  attributes: { shop: string(), slot: integer(), number: integer(), note: string().optional() },
});
const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer(), revision: version() },
});
declare const shop: Table;
declare const numbers: GaplessSequence;

it('takes numbers outside of the key for the number of a record', () => {
  expectTypeOf<NumberMember<typeof Receipt>>().toEqualTypeOf<'number'>();
  const receipts = shop.of(Receipt);
  const record = { shop: 'a', slot: 1 };
  expectTypeOf(numbers.assign(receipts, 'number', record))
    .resolves.toHaveProperty('number')
    .toBeNumber();
  // @ts-expect-error -- a part of the key: another run would write another record
  void numbers.assign(receipts, 'slot', { shop: 'a', number: 1 });
  // @ts-expect-error -- a text
  void numbers.assign(receipts, 'note', { ...record, number: 1 });
  // @ts-expect-error -- not the whole record
  void numbers.assign(receipts, 'number', { shop: 'a' });
});

it('tells a repeat by its item', async () => {
  const outcome = await numbers.assign(shop.of(Receipt), 'number', (number) => ({
    shop: 'a',
    slot: 1,
    note: `no. ${number}`,
  }));
  if (outcome.repeated) expectTypeOf(outcome.item).toEqualTypeOf<Item<typeof Receipt>>();
  else expectTypeOf(outcome.item).toEqualTypeOf<undefined>();
});

it('adds to a number of an entity without version', () => {
  expectTypeOf(increment(shop.of(Receipt), { shop: 'a', slot: 1 }, Receipt.attrs.number, 1)).resolves.toBeNumber();
  // @ts-expect-error -- a text
  void increment(shop.of(Receipt), { shop: 'a', slot: 1 }, Receipt.attrs.note, 1);
  // @ts-expect-error -- a versioned write says what becomes of the version
  void increment(shop.of(Account), { id: 'a' }, Account.attrs.balance, 1);
});

it('gives numbers or bigints', () => {
  expectTypeOf(hiLo(shop, { name: 'x' }).next()).resolves.toBeNumber();
  expectTypeOf(hiLoBigint(shop, { name: 'x' }).next()).resolves.toBeBigInt();
});
