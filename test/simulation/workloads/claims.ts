import { scan, type Item } from '../../../lib/commands/index.js';
import { Handle, Mail, User, usersOf } from '../../recipes/claims/users.js';
import { allOf, makeShop, must, shopOf, workload } from '../workload.js';

type Op =
  | { readonly kind: 'register'; readonly id: string; readonly email: string; readonly handle?: string | undefined }
  | {
      readonly kind: 'change';
      readonly id: string;
      readonly name: 'email' | 'handle';
      readonly to: string;
      /** Goes by what the process saw last, however long ago. */
      readonly stale: boolean;
    }
  | { readonly kind: 'remove'; readonly id: string };

/** Unique values: at most one owner each, and each record with the claims of its values, whatever raced. */
export const claims = workload<Op, ReturnType<typeof appOf>>('claims', {}, () => {
  const registered = new Map<string, { email: string; handle: string | undefined }>();
  return {
    prepare: makeShop,
    plan(random) {
      const id = (): string => random.pick(['u1', 'u1', 'u2']);
      const email = (): string => random.pick(['m1', 'M1', 'm2']);
      const handle = (): string => random.pick(['h1', 'h2']);
      return Array.from({ length: random.integer(2, 4) }, () =>
        Array.from({ length: random.integer(2, 5) }, (): Op => {
          const kind = random.pick(['register', 'register', 'change', 'change', 'remove'] as const);
          if (kind === 'register')
            return { kind, id: id(), email: email(), handle: random.chance(0.5) ? handle() : undefined };
          if (kind === 'remove') return { kind, id: id() };
          const name = random.pick(['email', 'handle'] as const);
          return { kind, id: id(), name, to: name === 'email' ? email() : handle(), stale: random.chance(0.5) };
        }),
      );
    },
    start: ({ clientConfig }) => appOf(clientConfig),
    async run({ shop, users, seen }, op, { invariant }) {
      if (op.kind === 'register') {
        const { id, email, handle } = op;
        const { outcome } = await users.register({ id, email, handle });
        if (outcome === 'Registered') registered.set(id, { email, handle });
        return outcome;
      }
      if (op.kind === 'remove') return users.remove({ id: op.id });
      const known = op.stale ? seen.get(op.id) : undefined;
      const user = known ?? (await shop.of(User).get({ id: op.id }).consistent().item());
      if (user === undefined) return 'nothing';
      seen.set(op.id, user);
      const outcome =
        op.name === 'email'
          ? await users.change({ id: op.id }, 'email', { from: user.email, to: op.to })
          : await users.change({ id: op.id }, 'handle', { from: user.handle, to: op.to });
      invariant(outcome !== undefined, 'A change without outcome.');
      return outcome;
    },
    async check({ clientConfig }) {
      const shop = shopOf(clientConfig);
      const users = await allOf(scan(shop.of(User)).items());
      const mails = await allOf(scan(shop.of(Mail)).items());
      const handles = await allOf(scan(shop.of(Handle)).items());
      for (const { id, email, handle } of users) {
        const address = email.toLowerCase();
        must(
          mails.some((mail) => mail.address === address && mail.owner === id),
          `${id} has no claim on its mail.`,
        );
        if (handle === undefined) continue;
        must(
          handles.some((claim) => claim.handle === handle && claim.owner === id),
          `${id} has no claim on its handle.`,
        );
      }
      for (const { address, owner } of mails) {
        const user = users.find(({ id }) => id === owner);
        must(user?.email.toLowerCase() === address, `${owner} holds a mail address that it does not use.`);
      }
      for (const { handle, owner } of handles) {
        const user = users.find(({ id }) => id === owner);
        must(user?.handle === handle, `${owner} holds a handle that it does not use.`);
      }
    },
  };
});

const appOf = (clientConfig: Parameters<typeof shopOf>[0]) => {
  const shop = shopOf(clientConfig);
  return { shop, users: usersOf(shop), seen: new Map<string, Item<typeof User>>() };
};
