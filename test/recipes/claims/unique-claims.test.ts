import { beforeAll, describe, expect, test } from 'vitest';
import { InvalidInputError, entity, integer, string, version } from '../../../lib/commands/index.js';
import { claimOn } from '../../../lib/recipes/claims/claim.js';
import { uniqueClaims } from '../../../lib/recipes/claims/unique-claims.js';
import { fresh, testShop, twenty } from '../../support/recipe-shop.js';
import { Handle, Mail, User, VersionedUser, handleClaim, mailClaim, usersOf } from './users.js';

const db = testShop();
let users: ReturnType<typeof usersOf>;
beforeAll(() => {
  users = usersOf(db.shop);
});

const stored = (id: string) => db.shop.of(User).get({ id }).consistent().item();
const ownerOf = async (address: string) => (await db.shop.of(Mail).get({ address }).consistent().item())?.owner;
const ownerOfHandle = async (handle: string) => (await db.shop.of(Handle).get({ handle }).consistent().item())?.owner;
const person = () => {
  const id = fresh();
  return { id, email: `${id}@example.ch`, handle: `h-${id}` };
};
const registered = async () => {
  const user = person();
  await users.register(user);
  db.operations();
  return user;
};

describe('register', () => {
  test('writes the record and the claims in one request', async () => {
    const user = person();
    expect(await users.register(user)).toEqual({ outcome: 'Registered' });
    expect(db.operations()).toEqual(['TransactWriteItems']);
    expect(await stored(user.id)).toEqual(user);
    expect([await ownerOf(user.email), await ownerOfHandle(user.handle)]).toEqual([user.id, user.id]);
  });

  test('tells which values are taken, and writes nothing then', async () => {
    const [bob, al] = [await registered(), person()];
    expect(await users.register({ ...al, email: bob.email })).toEqual({ outcome: 'Taken', taken: ['email'] });
    expect(await users.register({ ...al, handle: bob.handle })).toEqual({ outcome: 'Taken', taken: ['handle'] });
    expect(await users.register({ ...bob, id: al.id })).toEqual({ outcome: 'Taken', taken: ['email', 'handle'] });
    expect(db.operations()).toEqual(Array(3).fill('TransactWriteItems'));
    expect(await stored(al.id)).toBeUndefined();
    expect(await ownerOf(al.email)).toBeUndefined();
  });

  test('claims the normalised value, and stores the given one', async () => {
    const user = person();
    await users.register({ ...user, email: user.email.toUpperCase() });
    expect(await users.register({ ...person(), email: user.email })).toMatchObject({ outcome: 'Taken' });
    expect((await stored(user.id))?.email).toBe(user.email.toUpperCase());
    expect(await ownerOf(user.email)).toBe(user.id);
  });

  test('claims nothing for a value that is left out', async () => {
    const { id, email } = person();
    expect(await users.register({ id, email })).toEqual({ outcome: 'Registered' });
    expect(await stored(id)).toEqual({ id, email });
  });

  test('answers a second delivery as one, and another registration of the id as such', async () => {
    const user = await registered();
    expect(await users.register(user)).toEqual({ outcome: 'AlreadyRegistered', record: user });
    expect(db.operations()).toEqual(['TransactWriteItems']);
    expect(await users.register({ ...user, email: person().email })).toEqual({ outcome: 'RecordExists', record: user });
    await users.change({ id: user.id }, 'handle', { from: user.handle, to: undefined });
    expect(await users.register(user)).toMatchObject({ outcome: 'RecordExists' });
  });

  test('does not find its own values taken after a lost response', async () => {
    const user = person();
    db.loseResponseOf('TransactWriteItems');
    expect(await users.register(user)).toEqual({ outcome: 'Registered' });
    // All attempts of the client lost: the caller runs it again, as another request.
    const other = person();
    for (let i = 0; i < 4; i++) db.loseResponseOf('TransactWriteItems');
    await expect(users.register(other)).rejects.toThrow('lost');
    expect(await users.register(other)).toEqual({ outcome: 'AlreadyRegistered', record: other });
  });

  test('takes over a claim of its own without record', async () => {
    const user = await registered();
    await db.shop.of(User).delete({ id: user.id });
    expect(await users.register(user)).toEqual({ outcome: 'Registered' });
  });

  test('of 20 at once for one value gives it to one', async () => {
    const email = person().email;
    const outcomes = await twenty(() => users.register({ ...person(), email }, { maxAttempts: 100 }));
    const winners = outcomes.filter(({ outcome }) => outcome === 'Registered');
    expect(winners).toHaveLength(1);
    expect(outcomes.filter(({ outcome }) => outcome === 'Taken')).toHaveLength(19);
  });

  test('of 20 times one registration at once registers it once', async () => {
    const user = person();
    const outcomes = await twenty(() => users.register(user, { maxAttempts: 100 }));
    expect(outcomes.filter(({ outcome }) => outcome === 'Registered')).toHaveLength(1);
    expect(outcomes.filter(({ outcome }) => outcome === 'AlreadyRegistered')).toHaveLength(19);
  });
});

describe('change', () => {
  const emailOf = async (id: string) => (await stored(id))?.email;

  test('releases, takes and updates in one request', async () => {
    const user = await registered();
    const to = person().email;
    expect(await users.change({ id: user.id }, 'email', { from: user.email, to })).toBe('Changed');
    expect(db.operations()).toEqual(['TransactWriteItems']);
    expect([await ownerOf(user.email), await ownerOf(to), await emailOf(user.id)]).toEqual([undefined, user.id, to]);
  });

  test('sends nothing for an equal value, and updates the record alone for another spelling', async () => {
    const user = await registered();
    const upper = user.email.toUpperCase();
    const key = { id: user.id };
    expect(await users.change(key, 'email', { from: user.email, to: user.email })).toBe('Unchanged');
    expect(db.operations()).toEqual([]);
    expect(await users.change(key, 'email', { from: user.email, to: upper })).toBe('Changed');
    expect(await users.change(key, 'email', { from: user.email, to: upper })).toBe('AlreadyChanged');
    expect(db.operations()).toEqual(['UpdateItem', 'UpdateItem']);
    expect([await ownerOf(user.email), await emailOf(user.id)]).toEqual([user.id, upper]);
    expect(await users.change(key, 'email', { from: 'X@y', to: 'x@y' })).toBe('NotOwner');
    expect(await users.change({ id: fresh() }, 'email', { from: 'X@y', to: 'x@y' })).toBe('NoRecord');
  });

  test('answers a second delivery as one, also after a lost response', async () => {
    const user = await registered();
    const values = { from: user.email, to: person().email };
    db.loseResponseOf('TransactWriteItems');
    expect(await users.change({ id: user.id }, 'email', values)).toBe('Changed');
    expect(await users.change({ id: user.id }, 'email', values)).toBe('AlreadyChanged');
    expect(await emailOf(user.id)).toBe(values.to);
  });

  test('refuses a value of another, an old value of another, and a missing record', async () => {
    const [user, other] = [await registered(), await registered()];
    const key = { id: user.id };
    const to = person().email;
    expect(await users.change(key, 'email', { from: user.email, to: other.email })).toBe('Taken');
    expect(await users.change(key, 'email', { from: other.email, to })).toBe('NotOwner');
    expect(await users.change(key, 'email', { from: person().email, to })).toBe('NotOwner');
    expect(await users.change({ id: fresh() }, 'email', { from: user.email, to })).toBe('NoRecord');
    expect([await ownerOf(user.email), await ownerOf(other.email)]).toEqual([user.id, other.id]);
    expect([await ownerOf(to), await emailOf(user.id)]).toEqual([undefined, user.email]);
  });

  test('gives and takes away an optional value', async () => {
    const user = await registered();
    const key = { id: user.id };
    expect(await users.change(key, 'handle', { from: user.handle, to: undefined })).toBe('Changed');
    expect(await users.change(key, 'handle', { from: user.handle, to: undefined })).toBe('AlreadyChanged');
    expect(await users.change(key, 'handle', { from: undefined, to: undefined })).toBe('Unchanged');
    expect([await ownerOfHandle(user.handle), (await stored(user.id))?.handle]).toEqual([undefined, undefined]);
    const [to, another] = [person().handle, person().handle];
    expect(await users.change(key, 'handle', { from: undefined, to })).toBe('Changed');
    expect(await users.change(key, 'handle', { from: undefined, to })).toBe('AlreadyChanged');
    expect(await users.change(key, 'handle', { from: undefined, to: another })).toBe('NotOwner');
    expect([await ownerOfHandle(to), await ownerOfHandle(another)]).toEqual([user.id, undefined]);
  });

  test('takes over a claim of its own that no record holds', async () => {
    const user = await registered();
    const orphan = person().email;
    await db.shop.of(Mail).put({ address: orphan, owner: user.id });
    expect(await users.change({ id: user.id }, 'email', { from: user.email, to: orphan })).toBe('Changed');
    expect([await ownerOf(user.email), await ownerOf(orphan)]).toEqual([undefined, user.id]);
  });

  test('of 20 at once to one value gives it to one, and leaves the others theirs', async () => {
    const people = await twenty(() => registered());
    const to = person().email;
    const outcomes = await twenty((i) => {
      const { id, email } = people[i]!;
      return users.change({ id }, 'email', { from: email, to }, { maxAttempts: 100 });
    });
    expect(outcomes.filter((outcome) => outcome === 'Changed')).toHaveLength(1);
    for (const { id } of people) expect(await ownerOf((await emailOf(id))!)).toBe(id);
  });

  test('moves the version of a versioned record', async () => {
    const versioned = uniqueClaims(db.shop.of(VersionedUser), {
      owner: ({ id }) => `v-${id}`,
      claims: { email: mailClaim(db.shop) },
    });
    const { id, email } = person();
    expect(await versioned.register({ id, email, revision: 7 })).toEqual({ outcome: 'Registered' });
    expect(await versioned.change({ id }, 'email', { from: email, to: `new-${email}` })).toBe('Changed');
    expect(await versioned.change({ id }, 'email', { from: `new-${email}`, to: `NEW-${email}` })).toBe('Changed');
    expect((await db.shop.of(VersionedUser).get({ id }).item())?.revision).toBe(3);
    expect(await versioned.remove({ id })).toBe('Removed');
  });
});

describe('remove', () => {
  test('removes the record and its claims, and answers a second delivery', async () => {
    const user = await registered();
    db.loseResponseOf('TransactWriteItems');
    expect(await users.remove({ id: user.id })).toBe('Removed');
    expect(db.operations()).toEqual(['GetItem', 'TransactWriteItems', 'TransactWriteItems']);
    expect(await users.remove({ id: user.id })).toBe('NoRecord');
    expect(await stored(user.id)).toBeUndefined();
    expect([await ownerOf(user.email), await ownerOfHandle(user.handle)]).toEqual([undefined, undefined]);
  });

  test('releases the value that was changed since it read', async () => {
    const user = await registered();
    const to = person().email;
    db.afterNext('GetItem', async () => {
      await users.change({ id: user.id }, 'email', { from: user.email, to });
    });
    expect(await users.remove({ id: user.id })).toBe('Removed');
    expect([await ownerOf(user.email), await ownerOf(to)]).toEqual([undefined, undefined]);
  });

  test('leaves a claim that another holds', async () => {
    const user = await registered();
    await db.shop.of(Mail).put({ address: user.email, owner: 'somebody' });
    expect(await users.remove({ id: user.id })).toBe('Removed');
    expect([await ownerOf(user.email), await ownerOfHandle(user.handle)]).toEqual(['somebody', undefined]);
  });

  test('of 20 at once removes once', async () => {
    const user = await registered();
    const outcomes = await twenty(() => users.remove({ id: user.id }, { maxAttempts: 100 }));
    expect(outcomes.filter((outcome) => outcome === 'Removed')).toHaveLength(1);
  });
});

describe('refuses', () => {
  test('claims that could not be told apart, or whose owner could', () => {
    const email = mailClaim(db.shop);
    const owner = ({ id }: { id: string }) => id;
    expect(() => uniqueClaims(db.shop.of(User), { owner, claims: { email, handle: mailClaim(db.shop) } })).toThrow(
      'one of its own',
    );
    // @ts-expect-error -- the key can not change
    expect(() => uniqueClaims(db.shop.of(User), { owner, claims: { id: email } })).toThrow('key');
    // @ts-expect-error -- no attribute
    expect(() => uniqueClaims(db.shop.of(User), { owner, claims: { nothing: email } })).toThrow(InvalidInputError);
    expect(() => uniqueClaims(db.shop.of(User), { owner, claims: {} })).toThrow('at least one');
    const Numbered = entity('NUMBERED', {
      pk: 'NUMBERED#{id}',
      sk: 'N',
      attributes: { id: string(), code: integer() },
    });
    const Shared = entity('SHARED', {
      pk: 'SHARED#{value}#{owner}',
      sk: 'CLAIM',
      attributes: { value: string(), owner: string() },
    });
    const item = (value: string, by: string) => ({ value, owner: by });
    expect(() => claimOn(db.shop.of(Shared), { item, owner: 'owner' })).toThrow('part of the key');
    // @ts-expect-error -- the claim is of text
    const numbered = () => uniqueClaims(db.shop.of(Numbered), { owner, claims: { code: email } });
    expect(numbered).not.toThrow();
    // @ts-expect-error -- no attribute
    expect(() => claimOn(db.shop.of(Mail), { item: () => ({ address: '', owner: '' }), owner: 'who' })).toThrow();
    const Counted = entity('COUNTED', {
      pk: 'COUNTED#{value}',
      sk: 'CLAIM',
      attributes: { value: string(), owner: string(), revision: version() },
    });
    expect(() => claimOn(db.shop.of(Counted) as never, { item, owner: 'owner' as never })).toThrow('version()');
  });

  test('a value that its attribute can not hold, before it is normalised', async () => {
    for (const bad of [null, 7, {}, '\ud800']) {
      const record = { id: 'x', email: bad, handle: 'x' } as never;
      const calls = [
        users.register(record),
        users.change({ id: 'x' }, 'email', { from: 'x@example.ch', to: bad as never }),
        users.change({ id: 'x' }, 'email', { from: bad as never, to: 'x@example.ch' }),
      ];
      for (const call of calls) await expect(call).rejects.toMatchObject({ name: 'InvalidInputError' });
    }
  });

  test('tells nothing of keys and values', async () => {
    const secret = { id: 'secret', email: 'sec#ret@example.ch' };
    const message = await users.register(secret).catch((error: unknown) => String(error));
    expect(message).not.toContain('ret@');
    expect(handleClaim(db.shop)).toBeDefined();
  });
});
