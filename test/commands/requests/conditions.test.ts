import { describe, expect, it } from 'vitest';
import {
  InvalidInputError,
  LimitExceededError,
  binary,
  entity,
  integer,
  string,
  type Condition,
  type Delete,
} from '../../../lib/commands/index.js';
import { offlineTable } from '../support/offline.js';
import { Cart, Order, order, shopOptions } from '../support/shop.js';

const shop = offlineTable(shopOptions);
const orders = shop.of(Order);
const { attrs } = Order;

/** What a condition becomes: its text with the names put in, and its values in order. */
const rendered = (...conditions: Condition<'ORDER'>[]): [string, ...unknown[]] => {
  let command: Delete<typeof Order, unknown, unknown> = orders.delete({ customer: 'a', number: 1 });
  for (const condition of conditions) command = command.if(condition);
  const request = command.toRequest();
  const text = request.ConditionExpression?.replace(
    /#\d+/g,
    (alias) => request.ExpressionAttributeNames?.[alias] ?? '',
  );
  return [text as string, ...Object.values(request.ExpressionAttributeValues ?? {})];
};

describe('a condition', () => {
  it.each<[string, Condition<'ORDER'>, unknown[]]>([
    ['total = :0', attrs.total.eq(5), [{ N: '5' }]],
    ['total <> :0', attrs.total.ne(5), [{ N: '5' }]],
    ['total < :0', attrs.total.lt(5), [{ N: '5' }]],
    ['total <= :0', attrs.total.le(5), [{ N: '5' }]],
    ['total > :0', attrs.total.gt(5), [{ N: '5' }]],
    ['total >= :0', attrs.total.ge(5), [{ N: '5' }]],
    ['total BETWEEN :0 AND :1', attrs.total.between(1, 2), [{ N: '1' }, { N: '2' }]],
    ['status IN (:0, :1)', attrs.status.in('OPEN', 'PAID'), [{ S: 'OPEN' }, { S: 'PAID' }]],
    ['attribute_exists(note)', attrs.note.exists(), []],
    ['attribute_not_exists(note)', attrs.note.notExists(), []],
    ['(attribute_not_exists(total)) OR (total < :0)', attrs.total.notExistsOrLt(5), [{ N: '5' }]],
    ['(attribute_not_exists(total)) OR (total <= :0)', attrs.total.notExistsOrLe(5), [{ N: '5' }]],
    ['begins_with(note, :0)', attrs.note.beginsWith('x'), [{ S: 'x' }]],
    ['contains(note, :0)', attrs.note.contains('x'), [{ S: 'x' }]],
    ['contains(tags, :0)', attrs.tags.contains('x'), [{ S: 'x' }]],
    ['contains(scores, :0)', attrs.scores.contains(1), [{ N: '1' }]],
    ['attribute_type(note, :0)', attrs.note.isType('S'), [{ S: 'S' }]],
    ['size(tags) > :0', attrs.tags.size().gt(2), [{ N: '2' }]],
    ['size(lines) IN (:0)', attrs.lines.size().in(2), [{ N: '2' }]],
    ['shipTo.city = :0', attrs.shipTo.city.eq('Bern'), [{ S: 'Bern' }]],
    ['lines[0].quantity > :0', attrs.lines.at(0).quantity.gt(1), [{ N: '1' }]],
    ['labels.a.b = :0', attrs.labels.at('a.b').eq('x'), [{ S: 'x' }]],
    ['attribute_exists(pk)', attrs.customer.exists(), []],
    ['attribute_not_exists(pk)', attrs.number.notExists(), []],
    ['NOT (total = :0)', attrs.total.eq(5).negate(), [{ N: '5' }]],
    ['placedAt = :0', attrs.placedAt.eq(new Date(0)), [{ S: '1970-01-01T00:00:00.000Z' }]],
    ['tags = :0', attrs.tags.eq(new Set(['a'])), [{ SS: ['a'] }]],
  ])('%s', (text, condition, values) => {
    expect(rendered(condition)).toEqual([text, ...values]);
  });

  it('keeps its sides together when it is joined', () => {
    const { total, note } = attrs;
    const [a, b, c] = [total.eq(1), total.eq(2), note.exists()];
    expect(rendered(a.or(b), c)[0]).toBe('((total = :0) OR (total = :1)) AND (attribute_exists(note))');
    expect(rendered(a.or(b).and(c))[0]).toBe('((total = :0) OR (total = :1)) AND (attribute_exists(note))');
    expect(rendered(a.or(b.and(c)))[0]).toBe('(total = :0) OR ((total = :1) AND (attribute_exists(note)))');
    expect(rendered(a.or(b).negate(), c)[0]).toBe('(NOT ((total = :0) OR (total = :1))) AND (attribute_exists(note))');
    expect(rendered(a.negate().negate())[0]).toBe('NOT (NOT (total = :0))');
  });

  it('nests no chain of one operator, however long it is', () => {
    const { total } = attrs;
    const chain = [1, 2, 3].reduce((joined, n) => joined.or(total.eq(n)), total.eq(0));
    expect(rendered(chain)[0]).toBe('(total = :0) OR (total = :1) OR (total = :2) OR (total = :3)');
    expect(rendered(total.eq(0).or(total.eq(1).or(total.eq(2))))[0]).toBe(
      '(total = :0) OR (total = :1) OR (total = :2)',
    );
    expect(rendered(chain.and(total.gt(0)).and(total.lt(9)))[0]).toBe(
      '((total = :0) OR (total = :1) OR (total = :2) OR (total = :3)) AND (total > :4) AND (total < :5)',
    );
  });

  it('may be used in several commands, and several times in one', () => {
    const same = attrs.total.gt(5);
    expect(rendered(same, same)).toEqual(['(total > :0) AND (total > :1)', { N: '5' }, { N: '5' }]);
    expect(rendered(same.or(same))).toEqual(['(total > :0) OR (total > :1)', { N: '5' }, { N: '5' }]);
  });

  it('is of the value that it was made with', () => {
    const at = new Date(0);
    const condition = attrs.placedAt.lt(at);
    at.setTime(1);
    expect(rendered(condition)[1]).toEqual({ S: '1970-01-01T00:00:00.000Z' });
  });

  it('refuses values of another kind, and those that can not be compared', () => {
    const { total, note, tags, status, placedAt, scores, lines } = attrs as unknown as Record<
      string,
      Record<string, (...values: unknown[]) => unknown> & { size(): Record<string, (...values: unknown[]) => unknown> }
    >;
    const refused: (() => unknown)[] = [
      () => total?.['eq']?.('5'),
      () => total?.['eq']?.(undefined),
      () => total?.['eq']?.(null),
      () => total?.['lt']?.(NaN),
      () => total?.['between']?.(1),
      () => total?.['in']?.(),
      () => total?.['in']?.(...Array.from({ length: 101 }, (_, i) => i)),
      () => total?.['in']?.(1, 'x'),
      () => note?.['eq']?.('\ud800'),
      () => note?.['beginsWith']?.('\ud800'),
      () => note?.['beginsWith']?.(5),
      () => note?.['contains']?.('a\udc00'),
      () => status?.['eq']?.('NONE'),
      () => placedAt?.['lt']?.('2026-12-01'),
      () => placedAt?.['lt']?.(new Date(NaN)),
      () => tags?.['eq']?.(new Set()),
      () => tags?.['contains']?.(5),
      () => scores?.['contains']?.('x'),
      () => tags?.size()['gt']?.(1.5),
      () => lines?.size()['gt']?.('1'),
    ];
    refused.forEach((make, i) => expect(make, `case ${i}`).toThrow(InvalidInputError));
  });

  it('says no value in errors', () => {
    expect(() => attrs.status.eq('secret' as never)).toThrow(/^(?!.*secret)/s);
    expect(() => attrs.note.eq('secret\ud800')).toThrow(/^(?!.*secret)/s);
    expect(() => attrs.labels.at('secret').eq(5 as never)).toThrow(/^labels\{\}: (?!.*secret)/s);
  });

  it('takes 100 values in in()', () => {
    const [text, ...values] = rendered(attrs.total.in(...Array.from({ length: 100 }, (_, i) => i)));
    expect(text).toContain(':99)');
    expect(values).toHaveLength(100);
    // Another number of values is another text.
    expect(rendered(attrs.total.in(1, 2))[0]).toBe('total IN (:0, :1)');
    expect(rendered(attrs.total.in(1, 2, 3))[0]).toBe('total IN (:0, :1, :2)');
  });

  it('refuses a condition of another entity, and what is none', () => {
    const remove = orders.delete({ customer: 'a', number: 1 }) as unknown as { if(condition: unknown): unknown };
    for (const wrong of [Cart.attrs.owner.eq('x'), 'total = 5', null, undefined, {}, true, attrs.total]) {
      expect(() => remove.if(wrong)).toThrow(InvalidInputError);
    }
    expect(() => attrs.total.eq(1).and(Cart.attrs.owner.eq('x') as never)).toThrow(InvalidInputError);
    expect(() => attrs.total.eq(1).or(5 as never)).toThrow(InvalidInputError);
  });

  it('refuses one longer than DynamoDB takes', () => {
    let condition = attrs.total.eq(0);
    for (let i = 1; i < 500; i++) condition = condition.or(attrs.total.eq(i));
    expect(() => rendered(condition)).toThrow(LimitExceededError);
  });

  it('compares bytes', () => {
    const Blob = entity('BLOB', { pk: 'B', sk: '{id}', attributes: { id: string(), hash: binary() } });
    const request = shop
      .of(Blob)
      .delete({ id: 'x' })
      .if(Blob.attrs.hash.eq(new Uint8Array([1])))
      .toRequest();
    expect(request.ExpressionAttributeValues).toEqual({ ':0': { B: new Uint8Array([1]) } });
    expect(Blob.attrs.hash.eq(new Uint8Array([1]))).toBeDefined();
  });
});

describe('expression text', () => {
  it('writes handles as paths and values by their encoding', () => {
    const condition = Order.text`size(${attrs.lines}) < ${attrs.total.value(5)} AND ${attrs.shipTo.city} = ${attrs.note.value('x')}`;
    expect(rendered(condition)).toEqual(['size(lines) < :0 AND shipTo.city = :1', { N: '5' }, { S: 'x' }]);
  });

  it('is put in parentheses where it is joined, but never in two pairs', () => {
    const plain = Order.text`${attrs.total} = ${attrs.total.value(1)} OR ${attrs.total} = ${attrs.total.value(2)}`;
    const inParentheses = Order.text`
      (${attrs.total} = ${attrs.total.value(1)})
    `;
    const two = Order.text`(${attrs.total} = ${attrs.total.value(1)}) OR (${attrs.note} = ${attrs.note.value('x')})`;
    expect(rendered(plain, attrs.note.exists())[0]).toBe('(total = :0 OR total = :1) AND (attribute_exists(note))');
    expect(rendered(inParentheses, attrs.note.exists())[0].replace(/\s+/g, ' ')).toBe(
      ' (total = :0) AND (attribute_exists(note))',
    );
    expect(rendered(two, attrs.note.exists())[0]).toBe('((total = :0) OR (note = :1)) AND (attribute_exists(note))');
    expect(rendered(inParentheses.negate())[0].replace(/\s+/g, ' ')).toBe('NOT (total = :0) ');
  });

  it('takes nothing but handles of its entity and typed values', () => {
    for (const wrong of ['x', 5, null, undefined, { encoded: { S: 'x' } }, { '~t': true, encoded: { S: 'x' } }, {}]) {
      expect(() => Order.text`${attrs.total} = ${wrong as never}`).toThrow(InvalidInputError);
    }
    expect(() => Order.text`${Cart.attrs.owner as never} = ${attrs.note.value('x')}`).toThrow(InvalidInputError);
    expect(() => attrs.total.value('x' as never)).toThrow(InvalidInputError);
  });

  it('can not be put together while running, and is not empty', () => {
    const untyped = Order as unknown as { text(strings: unknown): unknown };
    for (const wrong of ['total > 5', ['total > 5'], undefined, null]) {
      expect(() => untyped.text(wrong)).toThrow(InvalidInputError);
    }
    expect(() => Order.text``).toThrow(InvalidInputError);
    expect(() => Order.text`  `).toThrow(InvalidInputError);
  });

  it('is a condition of its entity only', () => {
    const Other = entity('OTHER', { pk: 'O', sk: 'O', attributes: { total: integer() } });
    const put = orders.put(order()) as unknown as { if(condition: unknown): unknown };
    expect(() => put.if(Other.text`${Other.attrs.total} = ${Other.attrs.total.value(1)}`)).toThrow(InvalidInputError);
  });
});
