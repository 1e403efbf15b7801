import { bigint, entity, integer, string } from '../../commands/index.js';
import { byPrefix } from '../by-prefix.js';

/** The format of the items; grows when what they mean changes. */
export const hiLoFormat = 1;

const make = (prefix: string) =>
  entity(prefix as 'HILO', {
    pk: `${prefix}#{name}` as 'HILO#{name}',
    sk: 'HILO',
    attributes: { name: string(), hi: bigint(), format: integer() },
    escape: true,
  });

/**
 * The items that {@link hiLo} claims blocks of: one per name, `hi` being the last number of the last block. Setting it
 * to a greater number before the first use makes the numbers start above it; a smaller one would give numbers twice.
 *
 * @param prefix what their keys start with, and their type
 * @example
 * await shop.of(hiLoEntity()).put({ name: 'orders', hi: 1_000_000n, format: 1 }).ifNotExists();
 */
export const hiLoEntity: (prefix?: string) => ReturnType<typeof make> = byPrefix(make, 'HILO');
