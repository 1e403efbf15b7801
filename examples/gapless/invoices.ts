import { entity, integer, string, type Table } from '../../lib/commands/index.js';
import { GaplessSequence } from '../../lib/recipes/gapless/gapless-sequence.js';

/** An invoice is found by its order, which never has two. */
export const Invoice = entity('INVOICE', {
  pk: 'INVOICE#{order}',
  sk: 'INVOICE',
  attributes: { order: string(), number: integer(), total: integer(), reference: string() },
});

/** What issues the invoices of a year, numbered from 1 without a gap. Made once per process. */
export const invoicing = (shop: Table, year: number) => {
  const numbers = new GaplessSequence(shop, { name: `invoices-${year}` });
  const invoices = shop.of(Invoice);
  /** Issues the invoice of an order, and tells its number; again for an order that has one, nothing is written. */
  return async (order: string, total: number): Promise<number> => {
    const { number } = await numbers.assign(invoices, 'number', (number) => ({
      order,
      total,
      reference: `${year}-${String(number).padStart(6, '0')}`,
    }));
    return number;
  };
};
