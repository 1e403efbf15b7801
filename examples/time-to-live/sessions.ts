import { entity, string, timeToLive, type Item, type Table } from '../../lib/commands/index.js';
import { live, liveItem } from '../../lib/recipes/time-to-live/live.js';

/** A session of a user. DynamoDB removes it up to days after its end; until then, reads give it. */
export const Session = entity('SESSION', {
  pk: 'USER#{user}',
  sk: 'SESSION#{id}',
  attributes: { user: string(), id: string(), device: string(), expiresAt: timeToLive() },
});
export type Session = Item<typeof Session>;

const halfAnHour = 30 * 60_000;
const end = (now: Date): Date => new Date(now.getTime() + halfAnHour);

export const signIn = async (shop: Table, user: string, id: string, device: string, now: Date): Promise<void> => {
  await shop.of(Session).put({ user, id, device, expiresAt: end(now) });
};

/** The session, or undefined where there is none any more, removed or not. */
export const sessionOf = async (shop: Table, user: string, id: string, now: Date): Promise<Session | undefined> =>
  liveItem(Session, await shop.of(Session).get({ user, id }).consistent().item(), now);

/** Where a user is signed in. What has expired is read and paid for, and dropped by the filter. */
export const devicesOf = async (shop: Table, user: string, now: Date): Promise<string[]> => {
  const devices: string[] = [];
  const sessions = shop.of(Session).query({ user }).filter(live(Session, now));
  for await (const { device } of sessions.items()) devices.push(device);
  return devices;
};

/** Makes a session last longer; false where it has ended: a late request must not bring it back. */
export const touch = async (shop: Table, user: string, id: string, now: Date): Promise<boolean> => {
  const { conditionMet } = await shop
    .of(Session)
    .update({ user, id })
    .set({ expiresAt: end(now) })
    .ifExists()
    .if(live(Session, now))
    .trySend();
  return conditionMet;
};
