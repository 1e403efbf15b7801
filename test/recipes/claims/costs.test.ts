import { expect, test } from 'vitest';
import { embedded } from '../../support/dynamodb.js';
import { fresh, testShop } from '../../support/recipe-shop.js';
import { usersOf } from './users.js';

const db = testShop();

test.runIf(embedded)(
  'a call costs twice the write units of its items, also where it is refused or repeated',
  async () => {
    const users = usersOf(db.shop);
    const id = fresh();
    const user = { id, email: `${id}@x`, handle: id };
    await users.register(user);
    await users.register(user);
    await users.register({ ...user, id: fresh() });
    expect(db.writeUnits()).toEqual([6, 6, 6]);
    const values = { from: user.email, to: `new-${id}@x` };
    await users.change({ id }, 'email', values);
    await users.change({ id }, 'email', values);
    await users.change({ id }, 'email', { from: values.to, to: values.to.toUpperCase() });
    expect(db.writeUnits()).toEqual([6, 6, 1]);
    await users.remove({ id });
    await users.remove({ id });
    expect(db.writeUnits()).toEqual([0, 6, 0]);
  },
);
