import {
  retryOnConflict,
  transactWrite,
  type AnyEntity,
  type Run,
  type Step,
  type UnversionedUpdate,
  type VersionedEntityTable,
} from '../../commands/index.js';
import type { CompiledEntity } from '../../commands/entity/compiled.js';
import { invalid } from '../../commands/errors/errors.js';
import { bindingOf } from '../../commands/table/table.js';
import { checkFunction, checkObject, checkOptions } from '../arguments.js';
import { ItemMissingError } from './item-missing-error.js';
import { retryOnConflictWithin } from './retry-within.js';
import { tableOf } from './table-of.js';

/** What {@link readModifyUpdate} takes beside the change. */
export interface ModifyOptions<E extends AnyEntity> {
  /** The item, read before the call: serves the first run instead of a read; every later run reads again. */
  readonly first?: E['~item'] | undefined;
  /**
   * The change may be applied twice, such as one that sets a value and adds nothing: writes without a transaction, for
   * half the write units. @default false
   */
  readonly repeatable?: boolean;
  /** Runs in all, the first included. @default 5, without bound where `within` is given */
  readonly maxAttempts?: number;
  /** Milliseconds after which no run starts: for a hot item, whose writer loses an unknown number of times. */
  readonly within?: number;
  readonly signal?: AbortSignal | undefined;
}

/** What {@link readModifyWrite} takes beside the change. */
export interface ModifyWriteOptions<E extends AnyEntity> extends ModifyOptions<E> {
  /** What a missing item counts as; its put then holds only where there still is none. */
  readonly missing?: (() => E['~input']) | undefined;
}

type Values = Record<string, unknown>;
type AnyVersioned = VersionedEntityTable<AnyEntity>;

/** The entity, and the name of its version: without one, the second of two writers would silently undo the first. */
const versioned = (table: unknown): { entity: CompiledEntity; version: string } => {
  const { entity_: entity } = bindingOf(table);
  const { version_: version } = entity.model_;
  return version === undefined
    ? invalid(entity.model_.name, 'has no version(), without which a read-modify-write can lose a write')
    : { entity, version: version.name_ };
};

/** What a run comes to: a write, or none, and what the call then gives. */
interface Attempt<R> {
  readonly command?: Sendable;
  readonly result: R;
}

/** The runs of a read-modify-write: read, change, write where nobody wrote in between. */
const modify = async <R>(
  table: AnyVersioned,
  key: object,
  options: ModifyOptions<AnyEntity>,
  attempt: (item: Values | undefined, run: Run) => Attempt<R> | Promise<Attempt<R>>,
): Promise<R> => {
  const { first, within, maxAttempts, repeatable, signal } = checkOptions(options);
  if (first !== undefined) checkFirst(table, key, first as Values);
  if (within !== undefined && maxAttempts !== undefined) invalid('within', 'say within or maxAttempts, not both');
  const run = async (run: Run): Promise<R> => {
    const item =
      run.run === 1 && first !== undefined ? first : await table.get(key).consistent().item({ signal: run.signal });
    const { command, result } = await attempt(item as Values | undefined, run);
    // In a transaction, even of one write: its token makes what is sent again after a lost response the same request,
    // where a plain write would meet its own first attempt, count that as a conflict and apply the change twice.
    const write = repeatable === true ? command : command && transactWrite(tableOf(table), { write: command });
    await write?.send({ signal: run.signal });
    return result;
  };
  return within === undefined
    ? retryOnConflict(run, { ...(maxAttempts !== undefined && { maxAttempts }), signal })
    : retryOnConflictWithin(within, run, { signal });
};

/** Refuses the copy of another item: its version says nothing about this one. */
const checkFirst = (table: AnyVersioned, key: object, first: Values): void => {
  const { entity_: entity } = bindingOf(table);
  if (!sameKey(entity, checkObject(first, 'first', 'expected the item as it was read, or undefined'), key as Values))
    invalid('first', 'is another item than that of the key');
};

interface Sendable extends Step<unknown> {
  send(options: { signal: AbortSignal | undefined }): Promise<unknown>;
}

const sameKey = (entity: CompiledEntity, a: Values, b: Values): boolean => {
  const [left, right] = [entity.model_.key(a), entity.model_.key(b)];
  return left.pk === right.pk && left.sk === right.sk;
};

/**
 * Reads an item, changes it and puts it back where nobody wrote since the read, else runs again: optimistic locking, in
 * one call (seeds/000, Optimistic locking). The version written is always the one read plus one, whatever `change` gives.
 *
 * Cost, per run: one consistent read (none in the first run with `first`) and one write of the item at twice its write
 * units, a unit per KB of the larger of the old and the new item; a lost run costs the same. `repeatable` halves the write.
 * A call made again is no repeat: it reads, and changes the item again.
 *
 * - A lost response applies the change once: whatever is sent again has the same transaction token. With `repeatable` it
 *   may apply it twice. Where all attempts fail the outcome is unknown; a caller that tries again takes an idempotency
 *   key.
 * - With n writers that each write once, a run loses at most n - 1 times; while new ones keep arriving, any number of
 *   times. A hot item takes more `maxAttempts` or a time (`within`); a hotter one no read-modify-write: an `add` on the
 *   server, a queue with one consumer, or several items.
 * - The put replaces the whole item: an attribute that this code's entity does not declare, as during a deployment, is
 *   dropped. {@link readModifyUpdate} leaves it.
 *
 * @param change the item to put, or undefined to write nothing; runs again with what was read again, so it must have no
 *   effects of its own
 * @returns the item as it is stored now
 * @throws ItemMissingError where there is no item and no `missing`
 * @throws InvalidInputError where `change` gives an item of another key
 * @throws TransactionCanceledException the conflict of the last run; ConditionalCheckFailedException with `repeatable`
 * @throws OutcomeUnknownError where an attempt that was not answered may yet take effect
 * @example
 * const account = await readModifyWrite(accounts, { id: 'alice' }, (account) => ({
 *   ...account,
 *   balance: account.balance + 1000,
 * }));
 */
export const readModifyWrite = async <E extends AnyEntity>(
  table: VersionedEntityTable<E>,
  key: E['~key'],
  change: (item: E['~item'], run: Run) => E['~input'] | undefined | Promise<E['~input'] | undefined>,
  options: ModifyWriteOptions<E> = {},
): Promise<E['~item']> => {
  const { entity, version } = versioned(table);
  const asRead = (input: object): Values => entity.decode_(entity.encode_(input as Values));
  checkFunction(change, 'change');
  return modify(table as unknown as AnyVersioned, key, options, async (read, run) => {
    const { missing } = options;
    if (missing !== undefined) checkFunction(missing, 'missing');
    const absent = read === undefined ? missing?.() : undefined;
    const item = read ?? (absent && asRead({ ...absent, [version]: 0 }));
    if (item === undefined) throw new ItemMissingError(entity.model_.name);
    const changed = (await change(item, run)) as Values | undefined;
    if (changed === undefined) return { result: item };
    checkObject(changed, 'change', 'expected the function to give the item, or undefined');
    if (!sameKey(entity, changed, key as Values)) invalid(entity.model_.name, 'the changed item has another key');
    const next = { ...changed, [version]: item[version] };
    const command = (table as unknown as AnyVersioned).put(next);
    return { command, result: asRead({ ...next, [version]: (item[version] as number) + 1 }) };
  });
};

/**
 * {@link readModifyWrite} by an update: changes what it names and leaves the rest of the item, attributes that this
 * code's entity does not declare included. Its cost and caveats are those of a put, but that it creates nothing.
 *
 * @param change adds clauses to the update, or gives undefined to write nothing
 * @returns the version that is stored now
 * @throws ItemMissingError where there is no item
 * @throws TransactionCanceledException the conflict of the last run; ConditionalCheckFailedException with `repeatable`
 * @throws OutcomeUnknownError where an attempt that was not answered may yet take effect
 * @example
 * await readModifyUpdate(accounts, { id: 'alice' }, (account, update) =>
 *   account.balance < 0 ? update.set({ balance: 0 }) : undefined,
 * );
 */
export const readModifyUpdate = async <E extends AnyEntity>(
  table: VersionedEntityTable<E>,
  key: E['~key'],
  change: (
    item: E['~item'],
    update: UnversionedUpdate<E, unknown, unknown>,
    run: Run,
  ) => UnversionedUpdate<E, unknown, unknown> | undefined,
  options: ModifyOptions<E> = {},
): Promise<number> => {
  const { entity, version } = versioned(table);
  checkFunction(change, 'change');
  return modify(table as unknown as AnyVersioned, key, options, (item, run) => {
    if (item === undefined) throw new ItemMissingError(entity.model_.name);
    const seen = item[version] as number;
    const command = change(item, table.update(key), run);
    if (command === undefined) return { result: seen };
    checkFunction((command as { ifVersion?: unknown } | null)?.ifVersion, 'the update that the change gives');
    return { command: command.ifVersion(seen), result: seen + 1 };
  });
};
