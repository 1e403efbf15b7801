import type { AnyEntity, Condition, ValueHandle } from '../../commands/index.js';
import type { Field } from '../../commands/attributes/fields.js';
import { modelOf } from '../../commands/entity/entity.js';
import { invalid } from '../../commands/errors/errors.js';
import { checkObject } from '../arguments.js';
import { checkDate } from '../clock.js';

const expiryOf = (entity: unknown): Field => {
  const model = modelOf(entity);
  return model.timeToLive_ ?? invalid(model.name, 'has no timeToLive()');
};

/**
 * The condition that an item has not expired: for the filter of a query or scan, and for writes. An item without expiry
 * is live. DynamoDB removes an expired item up to days after its time, and reads give it until then, so a read that must
 * not see it asks for it; time to live is never a timer (seeds/000, Idempotency keys).
 *
 * Cost: none of its own. A filter drops items after they were read and paid for, so a page may come back short, or empty
 * with more to come. As a condition it costs what a failed condition does: the write units of the write.
 *
 * @param now what counts as now; an item is live through its last second
 * @throws InvalidInputError for an entity without `timeToLive()`
 * @example
 * await signIns.update({ id: 's1' }).set({ expiresAt: new Date(Date.now() + 60_000) }).ifExists().if(live(SignIn));
 */
export const live = <E extends AnyEntity>(entity: E, now: Date = new Date()): Condition<E['name']> => {
  const handle = modelOf(entity).attrs[expiryOf(entity).name_] as ValueHandle<E['name'], Date>;
  return handle.notExists().or(handle.ge(checkDate(now, 'now')));
};

/**
 * Whether an item that was read has not expired, by the same rule as {@link live}.
 *
 * @throws InvalidInputError for an entity without `timeToLive()`
 * @example
 * const session = await signIns.get({ id: 's1' }).item();
 * if (session !== undefined && isLive(SignIn, session)) console.log(session.expiresAt);
 */
export const isLive = <E extends AnyEntity>(entity: E, item: E['~item'], now: Date = new Date()): boolean => {
  const { name_: name } = expiryOf(entity);
  const time = checkDate(now, 'now').getTime();
  const expiry = (checkObject(item, 'item') as Record<string, Date | undefined>)[name];
  return expiry === undefined || checkDate(expiry, name).getTime() >= time;
};

/**
 * The item that was read, or undefined where it is missing or has expired: what a get gives where an expired item counts
 * as none. It costs nothing beside the get.
 *
 * @throws InvalidInputError for an entity without `timeToLive()`
 * @example
 * const session = liveItem(SignIn, await signIns.get({ id: 's1' }).item());
 */
export const liveItem = <E extends AnyEntity>(
  entity: E,
  item: E['~item'] | undefined,
  now: Date = new Date(),
): E['~item'] | undefined => (item !== undefined && isLive(entity, item, now) ? item : undefined);
