import { entity, string, version, type Table } from '../../../lib/commands/index.js';
import { claimOn } from '../../../lib/recipes/claims/claim.js';
import { uniqueClaims } from '../../../lib/recipes/claims/unique-claims.js';

export const User = entity('USER', {
  pk: 'USER#{id}',
  sk: 'USER',
  attributes: { id: string(), email: string(), handle: string().optional(), name: string().optional() },
});
export const VersionedUser = entity('VERSIONED_USER', {
  pk: 'VERSIONED_USER#{id}',
  sk: 'USER',
  attributes: { id: string(), email: string(), revision: version() },
});
export const Mail = entity('MAIL', {
  pk: 'MAIL#{address}',
  sk: 'CLAIM',
  attributes: { address: string(), owner: string() },
});
export const Handle = entity('HANDLE', {
  pk: 'HANDLE#{handle}',
  sk: 'CLAIM',
  attributes: { handle: string(), owner: string() },
});

export const mailClaim = (shop: Table) =>
  claimOn(shop.of(Mail), {
    item: (address: string, owner: string) => ({ address, owner }),
    owner: 'owner',
    normalize: (address) => address.toLowerCase(),
  });
export const handleClaim = (shop: Table) =>
  claimOn(shop.of(Handle), { item: (handle: string, owner: string) => ({ handle, owner }), owner: 'owner' });

export const usersOf = (shop: Table) =>
  uniqueClaims(shop.of(User), {
    owner: ({ id }) => id,
    claims: { email: mailClaim(shop), handle: handleClaim(shop) },
  });
