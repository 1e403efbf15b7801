import { scan, type Item } from '../../../lib/commands/index.js';
import type { ClaimChange, ClaimsRemoval, Registration } from '../../../lib/recipes/index.js';
import { Handle, Mail, User, usersOf } from '../../recipes/claims/users.js';
import { Moments, type Moment } from '../moments.js';
import { allOf, must, shopOf, workload } from '../workload.js';

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

/** What was asked for, as it was sent, with its answer. */
type Answered =
  | {
      readonly kind: 'register';
      readonly id: string;
      readonly email: string;
      readonly handle?: string | undefined;
      readonly answer: Registration<unknown, Name>;
    }
  | {
      readonly kind: 'change';
      readonly id: string;
      readonly name: Name;
      readonly from: string | undefined;
      readonly to: string;
      readonly answer: ClaimChange;
    }
  | { readonly kind: 'remove'; readonly id: string; readonly answer: ClaimsRemoval };

type Name = 'email' | 'handle';

/**
 * Unique values: at most one owner each, and each record with the claims of its values, whatever raced. What was answered
 * was so at some moment of the call.
 */
export const claims = workload<Op, ReturnType<typeof appOf>>('claims', { faults: { conflict: 0.15 } }, () => {
  const answered: { readonly from: number; readonly to: number; readonly what: Answered }[] = [];
  let moments: Moments;
  const during = async <A extends Answered>(call: () => Promise<A>): Promise<A['answer']> => {
    const from = await moments.mark();
    const what = await call();
    answered.push({ from, to: await moments.mark(), what });
    return what.answer;
  };
  return {
    async prepare(world) {
      moments = await Moments.of(world);
    },
    plan(random) {
      const id = (): string => random.pick(['u1', 'u1', 'u2']);
      const email = (): string => random.pick(['m1', 'M1', 'm2']);
      const handle = (): string => random.pick(['h1', 'h2']);
      const clients = Array.from({ length: random.integer(2, 4) }, () =>
        Array.from({ length: random.integer(2, 5) }, (): Op => {
          const kind = random.pick(['register', 'register', 'change', 'change', 'remove'] as const);
          if (kind === 'register')
            return { kind, id: id(), email: email(), handle: random.chance(0.5) ? handle() : undefined };
          if (kind === 'remove') return { kind, id: id() };
          const name = random.pick(['email', 'handle'] as const);
          return { kind, id: id(), name, to: name === 'email' ? email() : handle(), stale: random.chance(0.5) };
        }),
      );
      // Changes of what is removed: they go by a copy from before.
      for (const ops of clients) {
        if (random.chance(0.5)) continue;
        const goes = id();
        const change = (): Op => ({ kind: 'change', id: goes, name: 'email', to: email(), stale: true });
        ops.push({ kind: 'register', id: goes, email: email() }, { kind: 'remove', id: goes }, change(), change());
      }
      return clients;
    },
    start: ({ clientConfig }) => appOf(clientConfig),
    async run({ shop, users, seen }, op) {
      const { id } = op;
      if (op.kind === 'register') {
        const { email, handle } = op;
        const { outcome } = await during(async () => ({ ...op, answer: await users.register({ id, email, handle }) }));
        if (outcome === 'Registered') seen.set(id, { id, email, handle });
        return outcome;
      }
      if (op.kind === 'remove') return during(async () => ({ ...op, answer: await users.remove({ id }) }));
      const { name, to } = op;
      const known = op.stale ? seen.get(id) : undefined;
      const user = known ?? (await shop.of(User).get({ id }).consistent().item());
      if (user === undefined) return 'nothing';
      seen.set(id, user);
      const from = user[name];
      const change = () =>
        name === 'email'
          ? users.change({ id }, 'email', { from: user.email, to })
          : users.change({ id }, 'handle', { from: user.handle, to });
      return during(async () => ({ kind: 'change' as const, id, name, from, to, answer: await change() }));
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
      const between = await moments.read();
      for (const { from, to, what } of answered) {
        const isRight = between(from, to).some((moment) => isSo(what, moment));
        must(isRight, `It was at no moment of the call as it answered: ${JSON.stringify(what)}`);
      }
    },
  };
});

/** Whether an answer says how it was at a moment. */
const isSo = (what: Answered, moment: Moment): boolean => {
  const { id } = what;
  const user = moment.get(`USER#${id}`);
  const isOthers = (name: Name, value: string): boolean => {
    const claim = moment.get(name === 'email' ? `MAIL#${value.toLowerCase()}` : `HANDLE#${value}`);
    return claim !== undefined && claim['owner'] !== id;
  };
  if (what.kind === 'remove') return user === undefined;
  if (what.kind === 'register') {
    const { email, handle = undefined, answer } = what;
    if (answer.outcome === 'Taken')
      return answer.taken.length > 0 && answer.taken.every((name) => isOthers(name, what[name] ?? ''));
    if (user === undefined) return false;
    if (answer.outcome === 'Registered') return user['email'] === email && user['handle'] === handle;
    const isSame = isOne('email', user['email'], email) && user['handle'] === handle;
    return (answer.outcome === 'AlreadyRegistered') === isSame;
  }
  const { name, from, to, answer } = what;
  if (answer === 'NoRecord') return user === undefined;
  if (answer === 'Unchanged') return from === to;
  // Also without a record: a conflict may hide that there is none.
  if (answer === 'Taken') return isOthers(name, to);
  if (user === undefined) return false;
  const value = user[name];
  // Where both have one claim, the record alone says which it is.
  const isRespelt = isOne(name, from, to);
  if (answer === 'NotOwner') return isRespelt ? value !== from && value !== to : !isOne(name, value, from);
  return answer === 'Changed' || isRespelt ? value === to : isOne(name, value, to);
};

/** Whether two values have one claim. */
const isOne = (name: Name, a: string | undefined, b: string | undefined): boolean =>
  name === 'email' ? a?.toLowerCase() === b?.toLowerCase() : a === b;

const appOf = (clientConfig: Parameters<typeof shopOf>[0]) => {
  const shop = shopOf(clientConfig);
  return { shop, users: usersOf(shop), seen: new Map<string, Item<typeof User>>() };
};
