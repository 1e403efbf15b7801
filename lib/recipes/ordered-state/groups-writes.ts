import type { AnyEntity, EntityTable, Update } from '../../commands/index.js';
import { compareVersions } from './canonical.js';
import { stored, type GroupWrite, type Values } from './group-model.js';
import type { DeletionWrite, GroupsSchema } from './groups-schema.js';

type AnyUpdate = Update<AnyEntity, unknown, unknown>;
type Target = EntityTable<AnyEntity>;

/** Replaces groups where each is older, and the deletion as well. */
export const replaceGroups = (
  table: Target,
  { deletion }: GroupsSchema,
  key: Values,
  writes: readonly GroupWrite[],
): AnyUpdate => {
  let update: AnyUpdate = table.update(key);
  for (const { group, values } of writes) {
    const version = values[group.version.name];
    update = update.set(values).if(group.version.attr.notExistsOrLt(version));
    if (deletion === undefined) continue;
    const { attr } = deletion.version;
    update = update.if(deletion.revives ? attr.notExistsOrLt(version) : attr.notExists());
  }
  if (deletion?.revives !== true) return update;
  // The item is live again: an expiry that stayed would still remove it.
  update = update.remove(deletion.flag.attr);
  return deletion.expiry === undefined ? update : update.remove(deletion.expiry.member.attr);
};

/**
 * Clears the groups that are older than a deletion, and keeps its version. Where deletions can be undone and some groups
 * are newer, the item stays live with these.
 */
export const clearGroups = (
  table: Target,
  schema: GroupsSchema,
  key: Values,
  { value, version }: DeletionWrite,
  expires: Date | undefined,
  known: Values | undefined,
): AnyUpdate => {
  const { flag, version: deletedAt, expiry, revives } = schema.deletion as NonNullable<GroupsSchema['deletion']>;
  let update: AnyUpdate = table.update(key).set(deletedAt.attr, value).if(deletedAt.attr.notExistsOrLt(value));
  let live = false;
  for (const group of schema.groups.values()) {
    const { attr } = group.version;
    const current = stored(group.version, known);
    const newer = revives && current !== undefined && compareVersions(current, version) > 0;
    live ||= newer;
    if (revives) update = update.if(newer ? attr.gt(value) : attr.notExistsOrLt(value));
    if (!newer) update = update.remove(attr, ...group.fields.map((field) => field.attr));
  }
  if (live) return update;
  update = update.set(flag.attr, true);
  return expiry === undefined ? update : update.set(expiry.member.attr, expires);
};
