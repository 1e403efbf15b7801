import { isFilledText } from '../../commands/attributes/text.js';
import {
  TransactionCanceledException,
  retryOnConflict,
  transactWrite,
  type AnyEntity,
  type Condition,
  type Delete,
  type EntityTable,
  type Step,
  type Steps,
  type Table,
  type Update,
  type ValueHandle,
} from '../../commands/index.js';
import type { EntityModel } from '../../commands/entity/entity.js';
import { invalid } from '../../commands/errors/errors.js';
import { bindingOf } from '../../commands/table/table.js';
import { allFailures } from '../../commands/transact-write/step-failures.js';
import { checkFunction, checkObject, checkOptions } from '../arguments.js';
import { tableOf } from '../locking/table-of.js';
import { memberOf } from '../ordered-state/member.js';
import {
  claimModelOf,
  release,
  releaseIfHeld,
  sameClaim,
  take,
  takeUnclaimed,
  type Claim,
  type ClaimModel,
} from './claim.js';
import type { ClaimChange, ClaimsRemoval, ClaimsRunOptions, Registration } from './outcomes.js';

type Values = Readonly<Record<string, unknown>>;
type Failed = Readonly<Record<string, { readonly reason: string; readonly item?: unknown } | undefined>>;

interface Options {
  readonly owner: (key: Values) => string;
  readonly claims: Readonly<Record<string, Claim<never>>>;
}

/** The step that writes the record; no attribute has such a name. */
const recordStep = 'the record';

/** Makes the run start again: what was read, or what was seen, no longer decides. */
const again = (): never => {
  throw new TransactionCanceledException({ [recordStep]: { reason: 'TransactionConflict' } }, undefined);
};

const failedCondition = (failed: Failed, step: string): { readonly item?: unknown } | undefined =>
  failed[step]?.reason === 'ConditionalCheckFailed' ? failed[step] : undefined;

/** The run-time half of {@link UniqueClaims}. */
export class ClaimedRecords {
  private readonly shop: Table;
  private readonly model: EntityModel;
  private readonly claims: ReadonlyMap<string, ClaimModel>;

  constructor(
    private readonly table: EntityTable<AnyEntity>,
    private readonly options: Options,
  ) {
    this.shop = tableOf(table);
    this.model = bindingOf(table).entity_.model_;
    const { owner, claims } = checkObject(options, 'options');
    checkFunction(owner, 'owner');
    this.claims = new Map(
      Object.entries(checkObject(claims, 'claims')).map(([name, claim]) => [name, claimModelOf(claim)]),
    );
    if (this.claims.size === 0) invalid('claims', 'expected at least one claim');
    const kinds = new Set<object>();
    for (const [name, { entity }] of this.claims) {
      this.attribute(name);
      if (this.model.keyInputs_.some((field) => field.name_ === name))
        invalid(name, 'is part of the key, so it can not change');
      if (kinds.has(entity)) invalid(name, 'is claimed by the entity of another claim: give it one of its own');
      kinds.add(entity);
    }
  }

  private attribute(name: string): ValueHandle<string, unknown> {
    if (!Object.hasOwn(this.model.attrs, name)) invalid(name, `is no attribute of ${this.model.name}`);
    return this.model.attrs[name] as ValueHandle<string, unknown>;
  }

  /** Refuses a value that the record can't have: what normalises values is written for those that it can. */
  private checkValue(name: string, value: unknown): void {
    memberOf(this.model, name).encode(value);
  }

  /** The record's version moves along, so that a copy read before fails its next checked write. */
  private unchecked<C extends { if(condition: Condition<string>): C }>(command: C): C {
    return this.model.version_ === undefined ? command : (command as unknown as { ignoreVersion(): C }).ignoreVersion();
  }

  private ownerOf(key: Values, path: string): string {
    const by = this.options.owner(checkObject(key, path));
    return isFilledText(by) ? by : invalid('owner', 'expected the function to give text, not empty');
  }

  private run<R>(fn: (signal: AbortSignal | undefined) => Promise<R>, options: ClaimsRunOptions = {}): Promise<R> {
    return retryOnConflict(({ signal }) => fn(signal), { ...checkOptions(options), on: 'transactionConflict' });
  }

  /** The steps that stopped it; undefined where it was committed. */
  private async commit(steps: Steps, signal: AbortSignal | undefined): Promise<Failed | undefined> {
    const outcome = await transactWrite(this.shop, steps).trySend({ signal });
    return outcome.committed ? undefined : allFailures(outcome);
  }

  async register(record: Values, options?: ClaimsRunOptions): Promise<Registration<Values, string>> {
    const by = this.ownerOf(record, 'record');
    const { version_: version } = this.model;
    const first = version === undefined ? record : { ...record, [version.name_]: 0 };
    const held = [...this.claims].filter(([name]) => record[name] !== undefined);
    for (const [name] of held) this.checkValue(name, record[name]);
    return this.run(async (signal) => {
      const steps: Record<string, Step<unknown>> = {};
      for (const [name, claim] of held) steps[name] = take(claim, record[name], by);
      steps[recordStep] = this.table.unique(first).returnOldOnFailure();
      const failed = await this.commit(steps, signal);
      if (failed === undefined) return { outcome: 'Registered' };
      const existing = failedCondition(failed, recordStep)?.item as Values | undefined;
      const taken = held.map(([name]) => name).filter((name) => failedCondition(failed, name) !== undefined);
      if (existing === undefined) return taken.length > 0 ? { outcome: 'Taken', taken } : again();
      const same = [...this.claims].every(([name, claim]) => sameClaim(claim, record[name], existing[name], by));
      return { outcome: same && taken.length === 0 ? 'AlreadyRegistered' : 'RecordExists', record: existing };
    }, options);
  }

  async change(
    key: Values,
    name: string,
    values: { from?: unknown; to?: unknown },
    options?: ClaimsRunOptions,
  ): Promise<ClaimChange> {
    const { from, to } = checkObject(values, 'values');
    const claim = this.claims.get(name) ?? invalid('change', 'expected the name of a claim');
    const by = this.ownerOf(key, 'key');
    for (const value of [from, to]) if (value !== undefined) this.checkValue(name, value);
    if (from === to) return 'Unchanged';
    if (sameClaim(claim, from, to, by)) return this.respell(key, name, from, to, options);
    let adopts = false;
    return this.run(async (signal) => {
      const attribute = this.attribute(name);
      const steps: Record<string, Step<unknown>> = {};
      if (from !== undefined) steps['old'] = release(claim, from, by);
      if (to !== undefined) steps['new'] = (adopts ? take : takeUnclaimed)(claim, to, by);
      steps[recordStep] = this.unchecked(this.table.update(key))
        .set(attribute, to)
        .ifExists()
        .if(from === undefined ? attribute.notExists() : attribute.exists())
        .returnOldOnFailure();
      const failed = await this.commit(steps, signal);
      if (failed === undefined) return 'Changed';
      const record = failedCondition(failed, recordStep);
      if (record !== undefined) return this.changed(record.item, claim, name, to, by);
      // Another transaction held the record, so nothing is known of it, and the claims alone don't say.
      if (failed[recordStep] !== undefined) return again();
      const old = failedCondition(failed, 'old');
      const taken = failedCondition(failed, 'new');
      if (taken !== undefined && !claim.isOf(taken.item, by)) return 'Taken';
      if (old === undefined) {
        // The new value is the owner's, as is the old one: an owner's claim without a record's value is taken over.
        adopts = true;
        return again();
      }
      if (taken !== undefined) return 'AlreadyChanged';
      return failed['new'] === undefined ? 'NotOwner' : again();
    }, options);
  }

  /** What a record that did not hold the old value says. */
  private changed(record: unknown, claim: ClaimModel, name: string, to: unknown, by: string): ClaimChange {
    if (record === undefined) return 'NoRecord';
    return sameClaim(claim, (record as Values)[name], to, by) ? 'AlreadyChanged' : 'NotOwner';
  }

  /** Another spelling of the value, whose claim stays: the record says whether it is the owner's. */
  private async respell(
    key: Values,
    name: string,
    from: unknown,
    to: unknown,
    options: ClaimsRunOptions = {},
  ): Promise<ClaimChange> {
    const { signal, maxAttempts } = checkOptions(options);
    const attribute = this.attribute(name);
    return this.run(
      async () => {
        const update: Update<AnyEntity, unknown, unknown> = this.unchecked(this.table.update(key));
        const result = await update.set(attribute, to).if(attribute.eq(from)).returnOldOnFailure().trySend({ signal });
        if (result.conditionMet) return 'Changed';
        const record = result.item as Values | undefined;
        if (record === undefined) return 'NoRecord';
        return record[name] === to ? 'AlreadyChanged' : 'NotOwner';
      },
      { signal, ...(maxAttempts !== undefined && { maxAttempts }) },
    );
  }

  async remove(key: Values, options?: ClaimsRunOptions): Promise<ClaimsRemoval> {
    const by = this.ownerOf(key, 'key');
    // By value: a run after a conflict may find another one, whose claim is the owner's.
    const others = new Map<string, unknown>();
    return this.run(async (signal) => {
      const record = (await this.table.get(key).consistent().item({ signal })) as Values | undefined;
      if (record === undefined) return 'NoRecord';
      const byKey: Delete<AnyEntity, unknown, unknown> = this.table.delete(key);
      let deletion = this.unchecked(byKey);
      const steps: Record<string, Step<unknown>> = {};
      for (const [name, claim] of this.claims) {
        const value = record[name];
        const attribute = this.attribute(name);
        deletion = deletion.if(value === undefined ? attribute.notExists() : attribute.eq(value));
        const isOthers = others.has(name) && others.get(name) === value;
        if (value !== undefined && !isOthers) steps[name] = releaseIfHeld(claim, value, by);
      }
      steps[recordStep] = deletion.returnOldOnFailure();
      const failed = await this.commit(steps, signal);
      if (failed === undefined) return 'Removed';
      const gone = failedCondition(failed, recordStep);
      if (gone !== undefined) return gone.item === undefined ? 'NoRecord' : again();
      for (const name of this.claims.keys()) {
        if (failedCondition(failed, name) !== undefined) others.set(name, record[name]);
      }
      return again();
    }, options);
  }
}
