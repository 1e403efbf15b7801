import { entity, instant, integer, string } from '../../commands/index.js';
import { byPrefix } from '../by-prefix.js';

/** The format of the items; grows when what they mean changes. */
export const lockFormat = 1;

const make = (prefix: string) =>
  entity(prefix as 'LOCK', {
    pk: `${prefix}#{name}` as 'LOCK#{name}',
    sk: 'LOCK',
    attributes: {
      name: string(),
      /** Absent while nobody holds it. */
      owner: string().optional(),
      /** Only grows: one more with each acquisition, and kept by a release. */
      token: integer(),
      /** No time to live: an item that was removed would start its token again. */
      heldUntil: instant().optional(),
      format: integer(),
    },
    escape: true,
  });

/** The entity of the locks of one prefix. */
export type LockEntity = ReturnType<typeof make>;

/**
 * The items of {@link Locks}: one per lock, never deleted, and without time to live, so that the token only grows.
 *
 * @param prefix what their keys start with, and their type
 * @example
 * const item = await shop.of(lockEntity()).get({ name: 'nightly-report' }).consistent().item();
 * const isHeldByAnyone = item?.owner !== undefined;
 */
export const lockEntity: (prefix?: string) => LockEntity = byPrefix(make, 'LOCK');
