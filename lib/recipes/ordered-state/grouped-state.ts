import type { AnyEntity, EntityTable } from '../../commands/index.js';
import { invalid } from '../../commands/errors/errors.js';
import { bindingOf } from '../../commands/table/table.js';
import { checkObject, checkOptions } from '../arguments.js';
import { compareVersions } from './canonical.js';
import { checkLateness } from './deletion.js';
import type { GroupWrite, Standing, Values } from './group-model.js';
import {
  GroupsSchema,
  type AnyGroupsEvent,
  type AnyGroupsOptions,
  type Change,
  type DeletionWrite,
} from './groups-schema.js';
import { clearGroups, replaceGroups } from './groups-writes.js';
import { notSeen } from './not-seen.js';
import {
  combineOutcomes,
  type ApplyOptions,
  type EventOutcome,
  type EventResult,
  checkResult,
  type GroupOutcome,
  type Lane,
} from './outcome.js';

type Result = EventResult<Values>;

/** The run-time half of {@link orderedGroups}. */
export class GroupedState {
  private readonly name: string;
  private readonly schema: GroupsSchema;
  private readonly each: boolean;
  /** Of the parts that `lanes` made of events, so that each is checked and encoded once. */
  private readonly changes = new WeakMap<AnyGroupsEvent, Change>();

  constructor(
    private readonly table: EntityTable<AnyEntity>,
    options: AnyGroupsOptions,
  ) {
    const { model_: model } = bindingOf(table).entity_;
    const { several = 'all' } = checkObject(options, 'options');
    if (several !== 'all' && several !== 'each') invalid('several', "expected 'all' or 'each'");
    this.name = model.name;
    this.schema = new GroupsSchema(model, options);
    this.each = several === 'each';
  }

  private change(event: AnyGroupsEvent): Change {
    return this.changes.get(event) ?? this.schema.change(event);
  }

  async apply(event: AnyGroupsEvent, options: ApplyOptions = {}): Promise<Result> {
    const { now, signal } = checkOptions(options);
    const change = this.change(event);
    const versions = (change.writes ?? [change.deletion]).map(({ version }) => version);
    const expires = checkLateness(this.name, this.schema.deletion, versions, event.occurredAt, now);
    return change.writes === undefined
      ? this.delete(event.key, change.deletion, expires, signal)
      : this.replace(event.key, change.writes, signal);
  }

  private async replace(key: Values, writes: readonly GroupWrite[], signal?: AbortSignal): Promise<Result> {
    const groups: Record<string, GroupOutcome> = {};
    const done = (): Result => ({ outcome: combineOutcomes(Object.values(groups)), groups, item: seen });
    let pending = writes;
    let seen: Values | undefined;
    for (;;) {
      const update = replaceGroups(this.table, this.schema, key, pending);
      const result = await update.returnOldOnFailure().trySend({ signal });
      if (result.conditionMet) {
        for (const { group } of pending) groups[group.name] = 'Applied';
        return done();
      }
      const item = (result.item as Values | undefined) ?? notSeen();
      seen ??= item;
      const newer: GroupWrite[] = [];
      for (const write of pending) {
        const found = this.schema.standing(write, item);
        groups[write.group.name] = found === 'newer' ? 'Blocked' : found;
        if (found === 'newer') newer.push(write);
      }
      if (newer.length === pending.length) notSeen();
      if (!this.each || newer.length === 0) return done();
      pending = newer;
    }
  }

  private async delete(
    key: Values,
    deletion: DeletionWrite,
    expires: Date | undefined,
    signal?: AbortSignal,
  ): Promise<Result> {
    let seen: Values | undefined;
    let item: Values | undefined;
    for (;;) {
      const update = clearGroups(this.table, this.schema, key, deletion, expires, item);
      const result = await update.returnOldOnFailure().trySend({ signal });
      if (result.conditionMet) return { outcome: 'Applied', groups: {}, item: seen };
      // Only where newer groups were seen can an item that is gone since fail the condition.
      if (item === undefined && result.item === undefined) notSeen();
      item = result.item as Values | undefined;
      seen ??= item;
      const found = this.schema.standingOfDeletion(deletion, item);
      if (found !== 'newer') return { outcome: found, groups: {}, item: seen };
      // Some group is newer, or was cleared since: the next run clears the others, as this item says.
    }
  }

  settle(event: AnyGroupsEvent, applied: AnyGroupsEvent, result: Result): EventOutcome | undefined {
    checkResult(result);
    if (this.id(event) !== this.id(applied)) invalid('settle', 'expected two events of one key');
    const change = this.change(event);
    const known = this.known(applied, result);
    const standings =
      change.writes === undefined
        ? [this.schema.standingOfDeletion(change.deletion, known)]
        : change.writes.map((write) => this.schema.standing(write, known));
    const isDecided = (found: Standing): found is EventOutcome => found !== 'newer';
    return standings.every(isDecided) ? combineOutcomes(standings) : undefined;
  }

  /** What is certainly stored, or was, after the event was applied; versions only grow. */
  private known(applied: AnyGroupsEvent, { outcome, groups, item }: Result): Values {
    const { deletion } = this.schema;
    const known: Record<string, unknown> = { ...item };
    for (const [name, values] of Object.entries(applied.groups ?? {})) {
      if (groups[name] === 'Applied') Object.assign(known, values);
    }
    if (deletion !== undefined && applied.deleted !== undefined && outcome === 'Applied') {
      known[deletion.version.name] = applied.deleted;
    }
    return known;
  }

  private id(event: AnyGroupsEvent, ...lane: string[]): string {
    return JSON.stringify([...this.schema.key(checkObject(event, 'event').key), ...lane]);
  }

  lanes(event: AnyGroupsEvent): Lane<AnyGroupsEvent>[] {
    const { writes } = this.schema.change(event);
    if (writes === undefined) return [{ id: this.id(event), event }];
    return writes.map((write) => {
      const { name } = write.group;
      const part = { ...event, groups: { [name]: write.values } };
      this.changes.set(part, { writes: [write] });
      return { id: this.id(event, name), event: part };
    });
  }

  compare(a: AnyGroupsEvent, b: AnyGroupsEvent): number {
    const [left, right] = [this.lane(a), this.lane(b)];
    if (left.group !== right.group) invalid('compare', 'expected events of one lane');
    return compareVersions(left.version, right.version);
  }

  private lane(event: AnyGroupsEvent): { group: string | undefined; version: GroupWrite['version'] } {
    const { writes, deletion } = this.change(event);
    if (writes === undefined) return { group: undefined, version: deletion.version };
    const [write, other] = writes;
    return write === undefined || other !== undefined
      ? invalid('compare', 'expected events of one lane')
      : { group: write.group.name, version: write.version };
  }
}
