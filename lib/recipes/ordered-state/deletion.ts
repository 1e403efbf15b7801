import type { AnyEntity, AttributeValue } from '../../commands/index.js';
import type { EntityModel } from '../../commands/entity/entity.js';
import { invalid } from '../../commands/errors/errors.js';
import { checkObject, isBetween } from '../arguments.js';
import { checkDate } from '../clock.js';
import { timeOfVersion } from './canonical.js';
import { EventTooLateError } from './event-too-late-error.js';
import { memberOf, type Member } from './member.js';
import type { NameOf } from './names.js';

/**
 * Soft delete: a delete event keeps the item with a flag and the deletion's version, so that a late event doesn't bring
 * the item back.
 */
export interface Deletion<E extends AnyEntity> {
  /** The optional `boolean()` that marks a deleted item. */
  readonly flag: NameOf<E, boolean>;
  /**
   * True: an event newer than the deletion brings the item back, as new. False: a deletion is final, whatever the
   * versions, as long as its item is kept.
   */
  readonly revives: boolean;
  /**
   * Milliseconds that an event may be late, counted from when it occurred. The deleted item gets a time to live of this
   * much, in the entity's optional `timeToLive()`; an event that is later is refused, since the deletion it may be older
   * than can be gone. Choose more than the longest retention and redrive of the sources together. Left out: deleted
   * items stay for good.
   */
  readonly lateness?: number | undefined;
}

/** A {@link Deletion} of any entity. */
export interface AnyDeletion extends Omit<Deletion<AnyEntity>, 'flag'> {
  readonly flag: string;
}

/** A {@link Deletion}, checked against its entity. */
export interface DeletionModel {
  readonly flag: Member;
  readonly revives: boolean;
  /** Where the expiry goes, and how much later than now it is. */
  readonly expiry: { readonly member: Member; readonly lateness: number } | undefined;
}

const longestLateness = 100 * 365 * 86_400_000;

/** Checks a deletion against its entity. */
export const deletionModel = (model: EntityModel, deletion: AnyDeletion): DeletionModel => {
  const { flag: name, revives, lateness } = checkObject(deletion, 'deletion');
  const flag = memberOf(model, name);
  if (!flag.mayBeAbsent) invalid(name, 'is set by deletions only: make it optional()');
  if (typeof revives !== 'boolean') invalid('revives', 'say whether a newer event brings a deleted item back');
  if (lateness === undefined) return { flag, revives, expiry: undefined };
  if (!isBetween(lateness, Number.MIN_VALUE, longestLateness))
    invalid('lateness', 'expected milliseconds, at most 100 years');
  const field = model.timeToLive_;
  if (field === undefined || field.required_) {
    return invalid(model.name, 'needs an optional timeToLive() for the expiry of deleted items');
  }
  return { flag, revives, expiry: { member: memberOf(model, field.name_), lateness } };
};

/**
 * Refuses an event that is too late, and gives the expiry of a deletion at that event. Any event that gets through finds
 * the deletions that are newer than it: each is kept for the lateness from when it occurred on, at least.
 */
export const checkLateness = (
  entity: string,
  deletion: DeletionModel | undefined,
  versions: readonly AttributeValue[],
  occurredAt: Date | undefined,
  now = new Date(),
): Date | undefined => {
  // Checked in any case: what is wrong must not show only once deletions are introduced.
  checkDate(now, 'now');
  if (occurredAt !== undefined) checkDate(occurredAt, 'occurredAt');
  if (deletion?.expiry === undefined) return undefined;
  const times = occurredAt === undefined ? versions.map(timeOfVersion) : [occurredAt];
  const known = times.map((time) => time?.getTime() ?? NaN);
  const time = Math.min(...known);
  if (Number.isNaN(time)) {
    return invalid('occurredAt', 'say when the event occurred: its lateness can not be told from a sequence');
  }
  const { lateness } = deletion.expiry;
  if (now.getTime() - time > lateness) throw new EventTooLateError(entity);
  return new Date(Math.max(now.getTime(), time) + lateness);
};
