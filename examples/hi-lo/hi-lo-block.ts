import { entity, integer, string, type Table } from '../../lib/commands/index.js';
import { hiLo, type HiLo } from '../../lib/recipes/hi-lo/hi-lo.js';

/** A claim of a block written out, for an item of your own. */
export const HiLoBlock = entity('HILO_BLOCK', {
  pk: 'HILO_BLOCK#{name}',
  sk: 'HILO',
  attributes: { name: string(), hi: integer() },
});

/** Claims `size` numbers that no other call gets: from `first` to `last`. */
export const claimBlock = async (shop: Table, name: string, size: number): Promise<{ first: number; last: number }> => {
  const last = await shop
    .of(HiLoBlock)
    .update({ name })
    .add(HiLoBlock.attrs.hi, size)
    .return(HiLoBlock.attrs.hi)
    .send();
  return { first: last - size + 1, last };
};

/** The recipe hands the numbers out, one claim in flight at a time. Made once per process. */
export const orderNumbers = (shop: Table): HiLo<number> => hiLo(shop, { name: 'orders', blockSize: 100 });
