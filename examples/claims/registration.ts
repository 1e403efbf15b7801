import { entity, string, type Item, type Table } from '../../lib/commands/index.js';
import { claimOn } from '../../lib/recipes/claims/claim.js';
import { uniqueClaims } from '../../lib/recipes/claims/unique-claims.js';

export const Registrant = entity('REGISTRANT', {
  pk: 'USER#{id}',
  sk: 'REGISTRATION',
  attributes: { id: string(), email: string(), handle: string() },
});
export type Registrant = Item<typeof Registrant>;

export const MailClaim = entity('MAIL_CLAIM', {
  pk: 'MAIL#{address}',
  sk: 'CLAIM',
  attributes: { address: string(), owner: string() },
});

export const HandleClaim = entity('HANDLE_CLAIM', {
  pk: 'HANDLE#{handle}',
  sk: 'CLAIM',
  attributes: { handle: string(), owner: string() },
});

export type Registration = 'Done' | 'EmailTaken' | 'HandleTaken' | 'IdTaken';

/** Registrants whose mail addresses and handles are unique, however they are spelled. */
export const registrants = (shop: Table) =>
  uniqueClaims(shop.of(Registrant), {
    owner: ({ id }) => id,
    claims: {
      email: claimOn(shop.of(MailClaim), {
        item: (address: string, owner: string) => ({ address, owner }),
        owner: 'owner',
        normalize: (address) => address.trim().toLowerCase(),
      }),
      handle: claimOn(shop.of(HandleClaim), {
        item: (handle: string, owner: string) => ({ handle, owner }),
        owner: 'owner',
        normalize: (handle) => handle.normalize('NFKC').toLowerCase(),
      }),
    },
  });

/** Registers a user; a repeat, such as that of a client that lost the answer, is done as well. */
export const register = async (shop: Table, user: Registrant): Promise<Registration> => {
  const registration = await registrants(shop).register(user);
  switch (registration.outcome) {
    case 'Registered':
    case 'AlreadyRegistered':
      return 'Done';
    case 'RecordExists':
      return 'IdTaken';
    case 'Taken':
      return registration.taken.includes('email') ? 'EmailTaken' : 'HandleTaken';
  }
};
