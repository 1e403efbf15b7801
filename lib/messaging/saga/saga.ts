import type { AnyEntity, Step, VersionedEntityTable } from '../../commands/index.js';
import { conditionCheck } from '../../commands/index.js';
import type { CompiledEntity } from '../../commands/entity/compiled.js';
import { corrupt, invalid } from '../../commands/errors/errors.js';
import { bindingOf } from '../../commands/table/table.js';
import { isWholeBetween } from '../../recipes/arguments.js';
import { readOnly } from './read-only.js';
import { sagaFormat, stateNames, type SagaRecord } from './saga-entity.js';

/** A saga, as a handler sees it: change `state` in place; it is stored with the commit. */
export interface Saga<S> {
  readonly state: S;
  /** No earlier message of the saga was handled, or the saga has expired since it was completed. */
  readonly started: boolean;
  /**
   * An earlier message completed it: the state is what that left, and this message stores nothing of it. What changes it
   * throws an InvalidInputError.
   */
  readonly completed: boolean;
  /**
   * The revision that the saga has once this message is committed: the `sequence` of events whose aggregate it is. A
   * completed saga's does not move, so what it still publishes goes without an aggregate.
   */
  readonly revision: number;
  /**
   * Completes it with this message: it is kept for the handler's horizon, so that late messages find it completed
   * instead of starting it anew, and then removed by time to live.
   */
  complete(): void;
}

type State = Record<string, unknown>;
type SagaTable = VersionedEntityTable<AnyEntity>;

/** A stored saga. */
export interface StoredSaga extends State {
  readonly revision: number;
  readonly format: number;
  readonly completedAt?: Date | undefined;
  readonly expiresAt?: Date | undefined;
}

/** One saga in a unit of work: what is stored of it, and what the handler makes of it. */
export class SagaUnit {
  saga: (Saga<State> & { readonly completing: boolean }) | undefined;

  constructor(
    private readonly table: SagaTable,
    readonly correlation: string,
    private readonly stored: StoredSaga | undefined,
    private readonly now: Date,
  ) {
    if (stored === undefined) return;
    const { name } = this.entity.model_;
    if (stored.format > sagaFormat) corrupt(`${name}.format`, 'a known format');
    // An item that lost its revision, by other hands, could be written by no message.
    if (!isWholeBetween(stored.revision, 1, Number.MAX_SAFE_INTEGER - 1)) corrupt(`${name}.revision`, 'a revision');
  }

  get entity(): CompiledEntity {
    return bindingOf(this.table).entity_;
  }

  /** Absent, or completed so long ago that it is forgotten: on time, since DynamoDB removes it days later. */
  get isAbsent(): boolean {
    const { stored, now } = this;
    return stored === undefined || (stored.expiresAt !== undefined && stored.expiresAt <= now);
  }

  /** Loads it, or starts it where it is absent. */
  open(): Saga<State> {
    return (this.saga ??= this.make());
  }

  private make(): Saga<State> & { readonly completing: boolean } {
    const { stored, correlation, entity, isAbsent: started } = this;
    // Once through the codec: defaults are given as copies, so that no two sagas share one.
    const all = started ? { correlation, format: sagaFormat } : (stored as StoredSaga);
    const fresh = entity.decode_(entity.encode_(all));
    const state = Object.fromEntries(
      stateNames(entity.model_).map((name) => {
        const value = fresh[name];
        // An empty set is not stored, so the codec gives the default itself.
        return [name, value instanceof Set ? new Set(value) : value];
      }),
    );
    const completed = !started && stored?.completedAt !== undefined;
    if (completed) {
      const { name } = entity.model_;
      readOnly(state, () =>
        invalid(`${name}.state`, 'is what a completed saga was left as, and stays so: look at saga.completed first'),
      );
    }
    let completing = false;
    return {
      state,
      started,
      completed,
      revision: (stored?.revision ?? 0) + (completed ? 0 : 1),
      complete: () => void (completing = true),
      get completing() {
        return completing;
      },
    };
  }

  /** Its part of the commit; none where it was completed before. */
  step(horizonSeconds: number): Step<unknown> | undefined {
    const { table, correlation, saga, stored, now } = this;
    const revision = stored?.revision;
    if (saga === undefined) {
      // Its absence was an answer to the handler: it must still hold at the commit.
      const check = conditionCheck(table, { correlation });
      return revision === undefined ? check.ifNotExists() : check.ifVersion(revision);
    }
    if (saga.completed) return undefined;
    const record = {
      format: sagaFormat,
      completedAt: saga.completing ? now : undefined,
      expiresAt: saga.completing ? new Date(now.getTime() + horizonSeconds * 1000) : undefined,
    } satisfies { [K in keyof SagaRecord]?: unknown };
    if (saga.started) {
      // Over an expired record on condition that it is still that one.
      return table.put({ ...saga.state, ...record, correlation, revision: revision ?? 0 });
    }
    // An update leaves what newer code stores and this code does not declare.
    const update = table.update({ correlation }).set({ ...saga.state, ...record } as never);
    return update.ifVersion(revision as number);
  }
}
