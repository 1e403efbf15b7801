import { entity, integer, string, type Table } from '../../lib/commands/index.js';
import { increment } from '../../lib/recipes/counters/increment.js';

export const PageViews = entity('PAGE_VIEWS', {
  pk: 'PAGE#{path}',
  sk: 'VIEWS',
  attributes: { path: string(), count: integer() },
});

/** Counts a view, and tells how many there were with it. After a failure it may have counted: never more than once. */
export const countView = (shop: Table, path: string): Promise<number> =>
  increment(shop.of(PageViews), { path }, PageViews.attrs.count, 1);
