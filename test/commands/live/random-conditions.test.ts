import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Condition } from '../../../lib/commands/index.js';
import { liveTable } from '../support/live.js';
import { Order, order } from '../support/shop.js';

const live = liveTable();
const { attrs } = Order;
const key = { customer: 'conditions', number: 1 };
const item = order({ ...key, total: 5, note: 'hello', tags: new Set(['a', 'b']), lines: [{ sku: 'x', quantity: 2 }] });

/** A condition, and whether it holds for the item. */
interface Case {
  readonly condition: Condition<'ORDER'>;
  readonly holds: boolean;
}

const leaf: fc.Arbitrary<Case> = fc.oneof(
  fc.nat(10).map((n) => ({ condition: attrs.total.eq(n), holds: n === 5 })),
  fc.nat(10).map((n) => ({ condition: attrs.total.ne(n), holds: n !== 5 })),
  fc.nat(10).map((n) => ({ condition: attrs.total.lt(n), holds: 5 < n })),
  fc.nat(10).map((n) => ({ condition: attrs.total.ge(n), holds: 5 >= n })),
  fc
    .tuple(fc.nat(5), fc.nat(9))
    .map(([low, n]) => ({ condition: attrs.total.between(low, low + n), holds: 5 <= low + n })),
  fc
    .array(fc.nat(10), { minLength: 1, maxLength: 5 })
    .map((n) => ({ condition: attrs.total.in(...n), holds: n.includes(5) })),
  fc
    .constantFrom('he', 'x', '')
    .map((start) => ({ condition: attrs.note.beginsWith(start), holds: 'hello'.startsWith(start) })),
  fc.constantFrom('a', 'z').map((tag) => ({ condition: attrs.tags.contains(tag), holds: tag === 'a' })),
  fc.nat(4).map((n) => ({ condition: attrs.tags.size().gt(n), holds: 2 > n })),
  fc.nat(3).map((n) => ({ condition: attrs.lines.at(n).sku.exists(), holds: n === 0 })),
  fc.nat(3).map((n) => ({ condition: attrs.weight.notExistsOrLt(n), holds: true })),
  fc.nat(10).map((n) => ({ condition: attrs.total.notExistsOrLe(n), holds: 5 <= n })),
  fc.constant({ condition: attrs.shipTo.city.exists(), holds: false }),
  fc.tuple(fc.nat(10), fc.nat(10)).map(([a, b]) => ({
    condition: Order.text`${attrs.total} = ${attrs.total.value(a)} OR ${attrs.total} = ${attrs.total.value(b)}`,
    holds: a === 5 || b === 5,
  })),
  fc.nat(10).map((n) => ({ condition: Order.text` (NOT ${attrs.total} > ${attrs.total.value(n)}) `, holds: !(5 > n) })),
);

const { tree } = fc.letrec<{ tree: Case }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc
      .tuple(tie('tree'), tie('tree'))
      .map(([a, b]) => ({ condition: a.condition.and(b.condition), holds: a.holds && b.holds })),
    fc
      .tuple(tie('tree'), tie('tree'))
      .map(([a, b]) => ({ condition: a.condition.or(b.condition), holds: a.holds || b.holds })),
    tie('tree').map(({ condition, holds }) => ({ condition: condition.negate(), holds: !holds })),
  ),
}));

describe('a condition', () => {
  it('holds where its parts say so, however they are joined', async () => {
    const orders = live.shop.of(Order);
    await orders.put(item);
    await fc.assert(
      fc.asyncProperty(fc.array(tree, { minLength: 1, maxLength: 3 }), async (cases) => {
        let update = orders.update(key).set({ note: 'hello' });
        let query = orders.query({ customer: key.customer });
        for (const { condition } of cases) {
          update = update.if(condition);
          query = query.filter(condition);
        }
        const holds = cases.every((each) => each.holds);
        expect((await update.trySend()).conditionMet).toBe(holds);
        expect(await query.count()).toBe(holds ? 1 : 0);
      }),
      { numRuns: 100 },
    );
  }, 60_000);
});
