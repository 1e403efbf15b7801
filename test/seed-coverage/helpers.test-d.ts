import { test } from 'vitest';
import {
  transactWrite,
  type AnyEntity,
  type EntityTable,
  type Table,
  type VersionedEntityTable,
} from '../../lib/commands/index.js';
import { Cart, Order } from '../commands/support/shop.js';

declare const shop: Table;

test('a helper with a type parameter for the entity is held to the same rules', () => {
  const touch = <E extends AnyEntity>(entities: VersionedEntityTable<E>, key: E['~key']) => {
    // @ts-expect-error -- no decision about the version, whatever the entity
    void entities.update(key).send;
    // @ts-expect-error -- so it is no step either
    void transactWrite(shop, { step: entities.delete(key) });
    return entities.update(key).ignoreVersion();
  };
  void touch(shop.of(Cart), { id: 'a' });
  // @ts-expect-error -- an entity without version is no versioned one
  void touch(shop.of(Order), { customer: 'alice', number: 1 });

  const plain = <E extends AnyEntity>(entities: EntityTable<E>, key: E['~key']) => entities.update(key);
  void plain(shop.of(Order), { customer: 'alice', number: 1 }).send;
  // @ts-expect-error -- nor the other way round: the check of its version would be lost
  void plain(shop.of(Cart), { id: 'a' });
});
