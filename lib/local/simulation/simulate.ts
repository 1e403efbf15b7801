import { ratesOf } from './fault-plan.js';
import { runScenario, type Planned, type RunResult } from './run.js';
import type { Scenario, SimulationOptions } from './scenario.js';
import { shrink } from './shrink.js';
import { installVirtualGlobals } from './virtual-globals.js';
import type { Terms } from './world.js';

/**
 * What a simulation found: the seed, the fewest operations and faults that fail, and what happened in them. The message
 * has it all.
 *
 * @example
 * declare const scenario: () => Scenario<string, void>;
 * await simulate(scenario, { seeds: 1000 }).catch((error: unknown) => {
 *   if (error instanceof SimulationFailure) console.log(error.seed, error.history);
 * });
 */
export class SimulationFailure extends Error {
  override readonly name = 'SimulationFailure';
  constructor(
    readonly seed: number,
    /** What happened, event by event: it holds the keys of the run. */
    readonly history: string,
    /** The operations that are left. */
    readonly operations: number,
    /** The faults that are left. */
    readonly faults: number,
    override readonly cause: unknown,
  ) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`Seed ${seed} fails: ${reason}\n${leftOver(operations, faults)}${history === '' ? '.' : `:\n${history}`}`);
  }
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const leftOver = (operations: number, faults: number): string =>
  operations === 0
    ? 'It fails with no operation at all, in prepare, plan, settle or check'
    : `${counted(operations, 'operation')}, ${counted(faults, 'fault')}`;

/** What {@link simulate} did, in all runs. */
export interface SimulationReport {
  readonly runs: number;
  readonly operations: number;
  /** Operations that ended with an error. Where it is most of them, the scenario tests little. */
  readonly rejected: number;
  readonly faults: number;
}

/**
 * Runs a scenario many times against an embedded table, each time with another seed: clients whose requests take effect,
 * and are answered, in an order of the seed's, with lost answers, time-outs, refusals, conflicts, processes that die and
 * time that leaps. The same seed gives the same run, since the processes see the simulation's clock, timers and random
 * numbers: `Date`, `setTimeout` and its kin, `node:timers/promises`, `performance.now`, `Math.random` and `node:crypto` are
 * replaced for what the scenario runs, and for nobody else. Each run has a table, processes and a model of its own.
 *
 * A seed that fails is run again with less, as long as it fails, and thrown with its history. The history names keys and
 * prints operations: it is for tests.
 *
 * What a process waits for must be a request of its simulated client, a timer or another promise of the run: sockets,
 * files and worker threads are not simulated.
 *
 * @throws TypeError for options that are none
 * @throws SimulationFailure where an invariant does not hold, or a run does not end
 * @throws Error where another simulation runs in this process
 * @example
 * const { operations, rejected } = await simulate(
 *   () => {
 *     let paid = 0;
 *     return {
 *       prepare: ({ clientConfig }) => createTable(table({ name: 'shop', client: new DynamoDBClient(clientConfig) })),
 *       plan: (random) => [1, 2, 3].map(() => [{ amount: random.integer(1, 9) }]),
 *       start: ({ clientConfig }) => table({ name: 'shop', client: new DynamoDBClient(clientConfig) }).of(Account),
 *       async run(accounts, { amount }) {
 *         await retryOnConflict(async () => {
 *           const account = await accounts.get({ id: 'alice' }).consistent().item();
 *           const { balance, revision } = account ?? { balance: 0, revision: 0 };
 *           await accounts.put({ id: 'alice', balance: balance + amount, revision });
 *         });
 *         paid += amount;
 *       },
 *       async check({ clientConfig }) {
 *         const accounts = table({ name: 'shop', client: new DynamoDBClient(clientConfig) }).of(Account);
 *         const account = await accounts.get({ id: 'alice' }).item();
 *         if ((account?.balance ?? 0) < paid) throw new Error('A payment that was answered is not stored.');
 *       },
 *     };
 *   },
 *   { seeds: 200 },
 * );
 * if (rejected > operations / 2) throw new Error('Most operations ended with an error.');
 */
export async function simulate<Op, App>(
  scenario: () => Scenario<Op, App>,
  options: SimulationOptions = {},
): Promise<SimulationReport> {
  if (typeof scenario !== 'function') throw new TypeError('simulate takes a function that makes a scenario.');
  if (typeof options !== 'object' || options === null)
    throw new TypeError('The options must be an object, or left out.');
  checkNames(options);
  const { from, count } = seedsOf(options.seeds);
  checkOptions(options);
  const restore = installVirtualGlobals();
  try {
    let operations = 0;
    let rejected = 0;
    let faults = 0;
    for (let seed = from; seed < from + count; seed++) {
      const run = runsOf(scenario, seed, options);
      const result = await run({ recorded: false });
      operations += result.planned.length;
      rejected += result.rejected;
      faults += result.faults.length;
      if (result.failure !== undefined) throw await failureOf(seed, run, result, options);
      options.onRun?.({ seed, digest: result.digest });
    }
    return { runs: count, operations, rejected, faults };
  } finally {
    restore();
  }
}

/** What is left out of a run. */
export interface Less {
  readonly recorded: boolean;
  readonly leftOut?: { readonly operations: ReadonlySet<string>; readonly faults: ReadonlySet<string> };
  readonly inTurn?: boolean;
  readonly orderSeed?: number;
}

export type Runs = (less: Less) => Promise<RunResult>;

export const placeName = ({ client, index }: Planned): string => `${client}.${index}`;

function runsOf(scenario: () => Scenario<unknown, unknown>, seed: number, options: SimulationOptions): Runs {
  const { faults, leapMs = 60_000, skewMs = 0, maxSteps = 20_000 } = options;
  const rates = ratesOf(seed, faults);
  return ({ recorded, leftOut, inTurn = false, orderSeed = seed }) => {
    const isLeftOut = (fault: string): boolean => leftOut?.faults.has(fault) === true;
    const terms: Terms = { seed, orderSeed, rates, leapMs, skewMs, maxSteps, isLeftOut, inTurn };
    return runScenario(scenario(), terms, (place) => leftOut?.operations.has(placeName(place)) !== true, recorded);
  };
}

async function failureOf(
  seed: number,
  run: Runs,
  result: RunResult,
  { shrink: shrinks = true }: SimulationOptions,
): Promise<SimulationFailure> {
  const least = shrinks ? await shrink(run, result, seed) : { recorded: false };
  const { failure, history, planned, faults, digest } = await run({ ...least, recorded: true });
  if (failure !== undefined) return new SimulationFailure(seed, history, planned.length, faults.length, failure.error);
  const cause = new Error(
    'it fails at one time and not at another: the scenario waits for something, or draws from something, that the simulation does not see',
    { cause: result.failure?.error },
  );
  return new SimulationFailure(seed, `${history}\n(${digest})`, planned.length, faults.length, cause);
}

const optionNames = Object.keys({
  seeds: true,
  faults: true,
  leapMs: true,
  skewMs: true,
  maxSteps: true,
  shrink: true,
  onRun: true,
} satisfies Record<keyof SimulationOptions, true>);

/** An option that is none, such as `seed`, would leave what was meant at its default. */
function checkNames(options: SimulationOptions): void {
  const unknown = Object.keys(options).find((name) => !optionNames.includes(name));
  if (unknown === undefined) return;
  const one = unknown === 'seed' ? '; one seed is { seeds: { from: 17, count: 1 } }' : '';
  throw new TypeError(`${unknown} is no option: expected one of ${optionNames.join(', ')}${one}.`);
}

function checkOptions({ faults, leapMs = 1, skewMs = 0, maxSteps = 1, shrink = true, onRun }: SimulationOptions): void {
  if (faults !== undefined && (typeof faults !== 'object' || faults === null)) {
    throw new TypeError('faults must be an object of kinds with their rates, such as { lost: 0.1 }.');
  }
  ratesOf(0, faults);
  if (typeof shrink !== 'boolean') throw new TypeError('shrink must be true or false.');
  if (onRun !== undefined && typeof onRun !== 'function') throw new TypeError('onRun must be a function.');
  // A comparison alone would let text by.
  const isFrom = (least: number, value: unknown): boolean => typeof value === 'number' && value >= least;
  if (!isFrom(1, leapMs)) throw new TypeError('leapMs must be milliseconds from 1 on.');
  if (!isFrom(0, skewMs)) throw new TypeError('skewMs must be milliseconds from 0 on.');
  if (!isFrom(1, maxSteps)) throw new TypeError('maxSteps must be a number from 1 on.');
}

function seedsOf(seeds: SimulationOptions['seeds'] = 100): { from: number; count: number } {
  const given: unknown = typeof seeds === 'number' ? { from: 1, count: seeds } : seeds;
  const range = (typeof given === 'object' && given !== null ? given : {}) as { from: number; count: number };
  if (!Number.isSafeInteger(range.from) || !Number.isSafeInteger(range.count) || range.count < 1) {
    throw new TypeError('seeds must be a whole number from 1 on, or { from, count } of whole numbers.');
  }
  return range;
}
