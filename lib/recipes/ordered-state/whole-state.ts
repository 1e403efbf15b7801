import type { AnyEntity, AttributeValue, EntityTable } from '../../commands/index.js';
import type { CompiledEntity } from '../../commands/entity/compiled.js';
import { invalid } from '../../commands/errors/errors.js';
import { bindingOf } from '../../commands/table/table.js';
import { checkObject, checkOptions } from '../arguments.js';
import { checkVersion, compareVersions, sameValue } from './canonical.js';
import { checkLateness, deletionModel, type AnyDeletion, type DeletionModel } from './deletion.js';
import { stored, type Standing, type Values } from './group-model.js';
import { memberOf, type Member } from './member.js';
import { notSeen } from './not-seen.js';
import { checkResult, type ApplyOptions, type EventOutcome, type EventResult, type Lane } from './outcome.js';

interface Event {
  readonly item?: Values;
  readonly key?: Values;
  readonly deleted?: unknown;
  readonly occurredAt?: Date | undefined;
}

interface Options {
  readonly version: string;
  readonly deletion?: AnyDeletion | undefined;
}

/** An event, checked: the item that it would put. */
interface Change {
  readonly item: Values;
  readonly deletes: boolean;
  readonly value: unknown;
  readonly version: AttributeValue;
}

type Result = EventResult<Values, never>;

/** The run-time half of {@link orderedItems}. */
export class WholeState {
  private readonly entity: CompiledEntity;
  private readonly version: Member;
  private readonly deletion: DeletionModel | undefined;

  constructor(
    private readonly table: EntityTable<AnyEntity>,
    options: Options,
  ) {
    const { version, deletion } = checkObject(options, 'options');
    this.entity = bindingOf(table).entity_;
    const { model_: model } = this.entity;
    if (model.version_ !== undefined) invalid(model.name, 'has a version(), which counts writes and orders no events');
    this.version = memberOf(model, version);
    if (!this.version.settable) invalid(version, 'is an input of the key, so it can not be the version');
    if (deletion === undefined) return;
    this.deletion = deletionModel(model, deletion);
    const kept = new Set([version, ...model.keyInputs_.map((field) => field.name_)]);
    for (const { name_: name } of model.fields_) {
      if (!kept.has(name) && !memberOf(model, name).mayBeAbsent) {
        invalid(name, 'is absent from a deleted item: make it optional(), or give it a default()');
      }
    }
  }

  private change(event: Event): Change {
    const { item, key, deleted } = checkObject(event, 'event');
    const { version, deletion } = this;
    if ((item === undefined) === (deleted === undefined)) invalid('event', 'expected either item or deleted');
    const value = item === undefined ? deleted : checkObject(item, 'item')[version.name];
    if (value === undefined) invalid(version.name, 'is missing: it orders the events');
    const encoded = checkVersion(version.encode(value), version.name);
    if (item === undefined) {
      const { flag } = deletion ?? invalid('deleted', 'this state has no deletion');
      const inputs = this.entity.model_.keyInputs_.map(({ name_: name }) => [name, key?.[name]] as const);
      const tombstone = { ...Object.fromEntries(inputs), [version.name]: value, [flag.name]: true };
      return { item: tombstone, deletes: true, value, version: encoded };
    }
    const { flag, expiry } = deletion ?? {};
    if (flag !== undefined && item[flag.name] === true) invalid(flag.name, 'is set by deletions only');
    if (expiry !== undefined && item[expiry.member.name] !== undefined) {
      invalid(expiry.member.name, 'is set by deletions only');
    }
    return { item, deletes: false, value, version: encoded };
  }

  async apply(event: Event, options: ApplyOptions = {}): Promise<Result> {
    const { now, signal } = checkOptions(options);
    const change = this.change(event);
    const { deletion } = this;
    const expires = checkLateness(this.entity.model_.name, deletion, [change.version], event.occurredAt, now);
    const expiry = change.deletes ? deletion?.expiry?.member.name : undefined;
    const put = this.table.put(expiry === undefined ? change.item : { ...change.item, [expiry]: expires });
    const result = await put.if(this.condition(change)).returnOldOnFailure().trySend({ signal });
    if (result.conditionMet) return { outcome: 'Applied', groups: {}, item: undefined };
    const item = (result.item as Values | undefined) ?? notSeen();
    const outcome = this.standing(change, item);
    return outcome === 'newer' ? notSeen() : { outcome, groups: {}, item };
  }

  private condition({ value, deletes }: Change) {
    const newer = this.version.attr.notExistsOrLt(value);
    const { deletion } = this;
    if (deletion === undefined || deletion.revives) return newer;
    const { attr } = deletion.flag;
    const live = attr.notExists().or(attr.ne(true));
    // A deletion that is final wins over any state, and only the newest of several counts.
    return deletes ? live.or(newer) : live.and(newer);
  }

  private standing(change: Change, known: Values): Standing {
    const version = stored(this.version, known);
    if (version === undefined) return 'newer';
    const { deletion } = this;
    const isDeleted = deletion !== undefined && known[deletion.flag.name] === true;
    const isFinal = deletion?.revives === false;
    if (isFinal && change.deletes && !isDeleted) return 'newer';
    const order = compareVersions(change.version, version);
    if (order > 0) return isFinal && isDeleted && !change.deletes ? 'Superseded' : 'newer';
    if (order < 0) return 'Superseded';
    if (change.deletes || isDeleted) return change.deletes && isDeleted ? 'AlreadyStored' : 'Conflict';
    return this.same(change.item, known) ? 'AlreadyStored' : 'Conflict';
  }

  private same(item: Values, known: Values): boolean {
    const [given, other] = [this.entity.encode_(item), this.entity.encode_(known)];
    return this.entity.fields_.every((field) => {
      const { fallback_: fallback } = field.attribute_.traits_;
      if (item[field.name_] === undefined && typeof fallback?.value === 'function') return true;
      return sameValue(given[field.stored_], other[field.stored_]);
    });
  }

  settle(event: Event, applied: Event, result: Result): EventOutcome | undefined {
    checkResult(result);
    if (this.id(event) !== this.id(applied)) invalid('settle', 'expected two events of one key');
    const known = result.outcome === 'Applied' ? this.change(applied).item : (result.item ?? notSeen());
    const found = this.standing(this.change(event), known);
    return found === 'newer' ? undefined : found;
  }

  private id(event: Event): string {
    const { item, key = item } = checkObject(event, 'event');
    const { model_: model } = this.entity;
    const { pk, sk } = model.key(key ?? invalid('event', 'expected either item or deleted'));
    return JSON.stringify([model.name, pk, sk]);
  }

  lanes(event: Event): Lane<Event>[] {
    this.change(event);
    return [{ id: this.id(event), event }];
  }

  compare(a: Event, b: Event): number {
    return compareVersions(this.change(a).version, this.change(b).version);
  }
}
