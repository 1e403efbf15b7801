import type { LocalDynamoDB } from '../local-dynamodb.js';
import type { SeededRandom } from './random.js';

/** The settings of a DynamoDBClient whose requests the simulation decides about, with its default of four attempts. */
export type SimulatedClientConfig = LocalDynamoDB['clientConfig'] & { readonly maxAttempts: number };

/** A process of a run: what it holds in memory is gone when it dies. */
export interface SimulatedProcess {
  /** The client that it is of, from 0. */
  readonly client: number;
  /** To spread into the process's own `new DynamoDBClient({ … })`. */
  readonly clientConfig: SimulatedClientConfig;
}

/** One operation, as its process sees it. */
export interface SimulatedCall {
  readonly client: number;
  /** 1, and one more each time that the process died in the middle of it. */
  readonly attempt: number;
  /** Numbers that depend on seed, client, operation and attempt alone. */
  readonly random: SeededRandom;
  /** Adds a line to the history. */
  readonly note: (text: string) => void;
  /** Ends the run as failed where the condition does not hold: for what must hold at every moment. */
  readonly invariant: (holds: boolean, message: string) => void;
}

/** What surrounds the processes: no fault reaches it, and nothing that it does is delayed. */
export interface SimulatedWorld {
  /** To spread into a `new DynamoDBClient({ … })` without faults. */
  readonly clientConfig: SimulatedClientConfig;
  /** The time in epoch milliseconds. */
  now(): number;
  /** Lets that much time pass at once. */
  advance(ms: number): void;
  /** Deletes what has expired; the number of items. */
  sweep(): Promise<number>;
}

/**
 * What a simulation runs, with the model of what must be true. Made anew for each run, so it may keep what it sees in
 * variables of its own.
 *
 * @typeParam Op one operation of a client: plain data, which the history prints
 * @typeParam App what a process holds in memory
 */
export interface Scenario<Op, App> {
  /** Makes tables and what they hold at first. */
  prepare(world: SimulatedWorld): Promise<unknown> | void;
  /** The operations of each client, which it does one after another. */
  plan(random: SeededRandom): readonly (readonly Op[])[];
  /** A process starts, at first and after it died. */
  start(process: SimulatedProcess): Promise<App> | App;
  /**
   * Does one operation. Where its process dies meanwhile, the next process does it again, with a greater `attempt`. A
   * rejection is the operation's outcome, and no failure of the run.
   */
  run(app: App, op: Op, call: SimulatedCall): Promise<unknown>;
  /** After the last operation: one process more, without faults, for what has to come to rest. */
  settle?(app: App, world: SimulatedWorld): Promise<unknown>;
  /** Throws where something is not as the model says. */
  check(world: SimulatedWorld): Promise<unknown> | void;
}

/** How often something goes wrong: of 1, for each request that it can happen to. */
export interface SimulationFaults {
  /** The request has its effect, and the connection breaks before its answer. @default 0.06 */
  readonly lost?: number;
  /** The client gives up waiting, and the request has its effect later. @default 0.04 */
  readonly late?: number;
  /** The request never arrives. @default 0.03 */
  readonly dropped?: number;
  /** The service answers with an error of its own, and the request has no effect. @default 0.03 */
  readonly refused?: number;
  /** @default 0.04 */
  readonly throttled?: number;
  /** Another transaction is in the way. @default 0.05 */
  readonly conflict?: number;
  /** The transaction's token is in use by an attempt in flight. @default 0.02 */
  readonly inProgress?: number;
  /** The process dies: before the request is sent, or before its answer comes. @default 0.04 */
  readonly crash?: number;
  /** Time passes, for everyone: as long as `leapMs` at most. @default 0.03 */
  readonly leap?: number;
  /** Expired items are deleted. @default 0.03 */
  readonly sweep?: number;
}

/** What a simulation does beside its scenario. */
export interface SimulationOptions {
  /** How many seeds, or which: from one on, or a single one with a count of 1. @default 100 */
  readonly seeds?: number | { readonly from: number; readonly count: number } | undefined;
  /** Each seed also decides which kinds are left out in its run, and which are frequent. */
  readonly faults?: SimulationFaults | undefined;
  /** The longest that time leaps. @default 60,000 */
  readonly leapMs?: number | undefined;
  /** How far two processes' wall clocks may be apart. @default 0 */
  readonly skewMs?: number | undefined;
  /** Events after which a run that does not end has failed. @default 20,000 */
  readonly maxSteps?: number | undefined;
  /** Looks for the fewest clients, operations and faults that still fail. @default true */
  readonly shrink?: boolean | undefined;
  /** Called after each run. */
  readonly onRun?: ((run: { readonly seed: number; readonly digest: string }) => void) | undefined;
}
