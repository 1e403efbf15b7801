import { entity, integer, string } from '../../commands/index.js';
import { byPrefix } from '../by-prefix.js';

/** The format of the items; grows when what they mean changes. */
export const sequenceFormat = 1;

const make = (prefix: string) =>
  entity(prefix as 'SEQUENCE', {
    pk: `${prefix}#{name}` as 'SEQUENCE#{name}',
    sk: 'SEQUENCE',
    attributes: { name: string(), last: integer(), format: integer() },
    escape: true,
  });

/**
 * The items of {@link GaplessSequence}: one per name, `last` being the last number that was given. It has no time to
 * live and is never deleted: numbers would start again.
 *
 * @param prefix what their keys start with, and their type
 * @example
 * const given = (await shop.of(sequenceEntity()).get({ name: 'invoices' }).item())?.last ?? 0;
 */
export const sequenceEntity: (prefix?: string) => ReturnType<typeof make> = byPrefix(make, 'SEQUENCE');
