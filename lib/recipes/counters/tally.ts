import { entity, integer, string, stringSet, timeToLive } from '../../commands/index.js';
import { byPrefix } from '../by-prefix.js';

/** The format of the items; grows when what they mean changes. */
export const tallyFormat = 1;

const make = (prefix: string) =>
  entity(prefix as 'TALLY', {
    pk: `${prefix}#{name}` as 'TALLY#{name}',
    sk: 'WINDOW#{window}',
    attributes: {
      name: string(),
      window: string(),
      count: integer(),
      seen: stringSet(),
      /** Bytes of the ids in `seen`: a condition can measure the number of a set's elements only. */
      seenBytes: integer(),
      expires: timeToLive().optional(),
      format: integer(),
    },
    escape: true,
  });

/**
 * The items of a {@link WindowedCounter}: one per window, with the ids that it counted.
 *
 * @param prefix what their keys start with, and their type
 * @example
 * const day = await shop.of(tallyEntity()).get({ name: 'signups', window: '2026-12-01' }).item();
 */
export const tallyEntity: (prefix?: string) => ReturnType<typeof make> = byPrefix(make, 'TALLY');
