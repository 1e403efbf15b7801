import type { AttributeValue } from '../../commands/index.js';
import type { EntityModel } from '../../commands/entity/entity.js';
import { invalid } from '../../commands/errors/errors.js';
import { checkObject } from '../arguments.js';
import { checkVersion, compareVersions } from './canonical.js';
import { deletionModel, type AnyDeletion, type DeletionModel } from './deletion.js';
import { groupModels, groupWrite, standing, stored, type GroupModel, type GroupWrite } from './group-model.js';
import type { Standing, Values } from './group-model.js';
import { memberOf, type Member } from './member.js';

/** An event of grouped state, of any entity. */
export interface AnyGroupsEvent {
  readonly key: Values;
  readonly groups?: Readonly<Record<string, Values | undefined>> | undefined;
  readonly deleted?: unknown;
  readonly occurredAt?: Date | undefined;
}

/** The options of grouped state, of any entity. */
export interface AnyGroupsOptions {
  readonly groups: Readonly<Record<string, { readonly version: string; readonly fields: readonly string[] }>>;
  readonly deletion?: (AnyDeletion & { readonly version: string }) | undefined;
  readonly several?: 'all' | 'each';
}

/** An event, checked and encoded. */
export type Change =
  | { readonly writes: readonly GroupWrite[]; readonly deletion?: undefined }
  | { readonly writes?: undefined; readonly deletion: DeletionWrite };

/** A deletion's version, given and encoded. */
export interface DeletionWrite {
  readonly value: unknown;
  readonly version: AttributeValue;
}

/** The groups of an entity and their deletion: what an event means, and where it stands to an item. */
export class GroupsSchema {
  readonly groups: ReadonlyMap<string, GroupModel>;
  readonly deletion: (DeletionModel & { readonly version: Member }) | undefined;

  constructor(
    private readonly model: EntityModel,
    { groups, deletion }: AnyGroupsOptions,
  ) {
    if (model.version_ !== undefined) invalid(model.name, 'has a version(), which counts writes and orders no events');
    if (deletion !== undefined) {
      const version = memberOf(model, checkObject(deletion, 'deletion').version);
      if (!version.optional) invalid(version.name, 'is set by deletions only: make it optional()');
      this.deletion = { ...deletionModel(model, deletion), version };
    }
    const { flag, version, expiry } = this.deletion ?? {};
    const reserved = [flag, version, expiry?.member].filter((member) => member !== undefined);
    this.groups = groupModels(model, groups, reserved, deletion !== undefined);
    for (const group of this.groups.values()) {
      if (version !== undefined && version.kind !== group.version.kind) {
        invalid(version.name, `is of another kind than ${group.version.name}, so they do not compare`);
      }
    }
  }

  change(event: AnyGroupsEvent): Change {
    const { groups, deleted } = checkObject(event, 'event');
    if ((groups === undefined) === (deleted === undefined)) invalid('event', 'expected either groups or deleted');
    if (groups === undefined) {
      const { version } = this.deletion ?? invalid('deleted', 'this state has no deletion');
      return { deletion: { value: deleted, version: checkVersion(version.encode(deleted), version.name) } };
    }
    const writes = Object.entries(checkObject(groups, 'groups')).flatMap(([name, values]) => {
      if (values === undefined) return [];
      return groupWrite(this.groups.get(name) ?? invalid('groups', 'has no group of such a name'), values);
    });
    return writes.length === 0 ? invalid('groups', 'expected at least one group') : { writes };
  }

  /** Where a part stands to what is known, its deletion included. */
  standing(write: GroupWrite, known: Values | undefined): Standing {
    const { deletion } = this;
    const deletedAt = deletion && stored(deletion.version, known);
    if (deletion !== undefined && deletedAt !== undefined) {
      const order = compareVersions(write.version, deletedAt);
      if (order === 0) return 'Conflict';
      if (order < 0 || !deletion.revives) return 'Superseded';
    }
    return standing(write, known);
  }

  /** Where a deletion stands to what is known; a final one is newer than any group. */
  standingOfDeletion({ version }: DeletionWrite, known: Values | undefined): Standing {
    const { deletion } = this;
    if (deletion === undefined) return 'newer';
    const deletedAt = stored(deletion.version, known);
    const order = deletedAt === undefined ? 1 : compareVersions(version, deletedAt);
    if (order <= 0) return order === 0 ? 'AlreadyStored' : 'Superseded';
    const collides = [...this.groups.values()].some((group) => {
      const current = stored(group.version, known);
      return current !== undefined && compareVersions(version, current) === 0;
    });
    return collides && deletion.revives ? 'Conflict' : 'newer';
  }

  key(key: Values): readonly string[] {
    const { pk, sk } = this.model.key(checkObject(key, 'key'));
    return [this.model.name, pk, sk];
  }
}
