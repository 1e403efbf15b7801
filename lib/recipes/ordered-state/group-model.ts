import type { AttributeValue } from '../../commands/index.js';
import type { EntityModel } from '../../commands/entity/entity.js';
import { invalid } from '../../commands/errors/errors.js';
import { checkObject } from '../arguments.js';
import { checkVersion, compareVersions, sameValue } from './canonical.js';
import { memberOf, type Member } from './member.js';
import type { EventOutcome } from './outcome.js';

export type Values = Readonly<Record<string, unknown>>;

/** A group of fields that events replace as a whole, with its version beside it. */
export interface GroupModel {
  readonly name: string;
  readonly version: Member;
  readonly fields: readonly Member[];
}

/** An event's part for one group. */
export interface GroupWrite {
  readonly group: GroupModel;
  readonly version: AttributeValue;
  readonly values: Values;
}

/** Where an event stands to what is stored: done with an outcome, or newer, so that it would be written. */
export type Standing = EventOutcome | 'newer';

interface AnyGroup {
  readonly version: string;
  readonly fields: readonly string[];
}

/** Checks groups against their entity. */
export const groupModels = (
  model: EntityModel,
  groups: Readonly<Record<string, AnyGroup>>,
  reserved: readonly Member[],
  deletes: boolean,
): ReadonlyMap<string, GroupModel> => {
  const taken = new Set(reserved.map((member) => member.name));
  const own = (name: string): Member => {
    const member = memberOf(model, name);
    if (!member.settable) invalid(name, 'is an input of the key, which events can not set');
    if (taken.has(name)) invalid(name, 'has a part in two groups, or in a group and the deletion');
    taken.add(name);
    return member;
  };
  const names = Object.keys(checkObject(groups, 'groups'));
  if (names.length === 0) invalid('groups', 'expected at least one group');
  const models = new Map(
    names.map((name) => {
      const { version, fields } = checkObject(groups[name] as AnyGroup, name);
      if (!Array.isArray(fields) || fields.length === 0) invalid(name, 'expected the fields of the group');
      return [name, { name, version: own(version), fields: fields.map(own) }];
    }),
  );
  const inputs = new Set(model.keyInputs_.map((field) => field.name_));
  for (const { name_: name } of model.fields_) {
    // The first event of one group creates the item, and a deletion clears them all.
    const always = models.size === 1 && taken.has(name) && !deletes;
    if (!always && !inputs.has(name) && !memberOf(model, name).mayBeAbsent) {
      invalid(name, 'is absent while no event has set it: make it optional(), or give it a default()');
    }
  }
  return models;
};

/** An event's part for a group; refuses one that would leave a field of the group as it was. */
export const groupWrite = (group: GroupModel, values: Values): GroupWrite => {
  checkObject(values, group.name);
  const members = new Set([group.version, ...group.fields].map(({ name }) => name));
  if (Object.keys(values).some((name) => !members.has(name))) {
    invalid(group.name, 'takes its fields and its version only');
  }
  for (const { name, optional } of group.fields) {
    if (!Object.hasOwn(values, name) || (values[name] === undefined && !optional)) {
      invalid(name, `is missing: an event replaces its whole group ${group.name}`);
    }
  }
  const { name, encode } = group.version;
  const version = values[name];
  if (version === undefined) invalid(name, `is missing: it orders the events of the group ${group.name}`);
  return { group, values, version: checkVersion(encode(version), name) };
};

/** A member of an item as it is stored. */
export const stored = (member: Member, item: Values | undefined): AttributeValue | undefined => {
  const value = item?.[member.name];
  return value === undefined ? undefined : member.encode(value);
};

/** Where an event's part stands to what is known to be stored of its group. */
export const standing = (write: GroupWrite, known: Values | undefined): Standing => {
  const version = stored(write.group.version, known);
  if (version === undefined) return 'newer';
  const order = compareVersions(write.version, version);
  if (order !== 0) return order > 0 ? 'newer' : 'Superseded';
  const same = write.group.fields.every((field) => sameValue(stored(field, write.values), stored(field, known)));
  return same ? 'AlreadyStored' : 'Conflict';
};
