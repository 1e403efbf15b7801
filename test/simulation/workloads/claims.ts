import { scan } from '../../../lib/commands/index.js';
import { Handle, Mail, User, usersOf } from '../../recipes/claims/users.js';
import { allOf, makeShop, must, shopOf, workload } from '../workload.js';

type Op =
  | { readonly kind: 'register'; readonly id: string; readonly email: string; readonly handle?: string | undefined }
  | { readonly kind: 'change'; readonly id: string; readonly name: 'email' | 'handle'; readonly to: string }
  | { readonly kind: 'remove'; readonly id: string };

/** Unique values: at most one owner each, and each record with the claims of its values, whatever raced. */
export const claims = workload<Op, ReturnType<typeof shopOf>>('claims', {}, () => {
  const registered = new Map<string, { email: string; handle: string | undefined }>();
  return {
    prepare: makeShop,
    plan(random) {
      const id = (): string => random.pick(['u1', 'u2', 'u3']);
      const email = (): string => random.pick(['m1', 'M1', 'm2', 'm3']);
      const handle = (): string => random.pick(['h1', 'h2']);
      return Array.from({ length: random.integer(2, 4) }, () =>
        Array.from({ length: random.integer(1, 4) }, (): Op => {
          const kind = random.pick(['register', 'register', 'change', 'change', 'remove'] as const);
          if (kind === 'register')
            return { kind, id: id(), email: email(), handle: random.chance(0.5) ? handle() : undefined };
          if (kind === 'remove') return { kind, id: id() };
          const name = random.pick(['email', 'handle'] as const);
          return { kind, id: id(), name, to: name === 'email' ? email() : handle() };
        }),
      );
    },
    start: ({ clientConfig }) => shopOf(clientConfig),
    async run(shop, op, { invariant }) {
      const users = usersOf(shop);
      if (op.kind === 'register') {
        const { id, email, handle } = op;
        const { outcome } = await users.register({ id, email, handle });
        if (outcome === 'Registered') registered.set(id, { email, handle });
        return outcome;
      }
      if (op.kind === 'remove') return users.remove({ id: op.id });
      const seen = await shop.of(User).get({ id: op.id }).consistent().item();
      if (seen === undefined) return 'nothing';
      const outcome =
        op.name === 'email'
          ? await users.change({ id: op.id }, 'email', { from: seen.email, to: op.to })
          : await users.change({ id: op.id }, 'handle', { from: seen.handle, to: op.to });
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
