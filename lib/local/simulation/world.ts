import type { LocalDynamoDB } from '../local-dynamodb.js';
import type { FaultName, LocalFault } from '../faults.js';
import { draw, hash, randomOf, type SeededRandom } from './random.js';
import { conflictOf, faultName, faultsOf, type FaultKind } from './fault-plan.js';
import type { History } from './history.js';
import { SimulationError } from './simulation-error.js';
import { real, runAs, runOutside, type VirtualHost } from './virtual-globals.js';

/** What may happen next; the least of all goes first. */
interface Waiting {
  readonly name: string;
  readonly order: number;
  readonly run: () => Promise<void> | void;
}

interface Timer {
  readonly name: string;
  readonly due: number;
  readonly order: number;
  readonly process: Process;
  readonly callback: () => void;
}

/** What decides about a run beside its scenario. */
export interface Terms {
  readonly seed: number;
  /** Decides the order alone: the same as the seed, but where a failure is shrunk. */
  readonly orderSeed: number;
  readonly rates: ReadonlyMap<FaultKind, number>;
  readonly leapMs: number;
  readonly skewMs: number;
  readonly maxSteps: number;
  readonly isLeftOut: (fault: string) => boolean;
  /** Whether what waits goes in the order in which it came. */
  readonly inTurn: boolean;
}

export const epoch = Date.UTC(2026, 0, 1);
/** How long the computer may take for what a process does between two requests. */
const patienceMs = 5_000;

/** The time, the network and the processes of one run. */
export class World {
  readonly faults: string[] = [];
  failure: { readonly error: unknown } | undefined;
  calm = false;
  private time = 0;
  private steps = 0;
  private arrivals = 0;
  private activity = 0;
  /** Requests that no fault meets and that are not answered yet. */
  private outside = 0;
  private fault: LocalFault | undefined;
  private digest = 0;
  /** Transactions that were committed: a repeat of one meets no other transaction. */
  private readonly committed = new Set<unknown>();
  private readonly waiting = new Set<Waiting>();
  private readonly timers = new Set<Timer>();
  private readonly processes = new Set<Process>();
  private immediates: { callback: () => void; cancelled: boolean }[] = [];
  private readonly spread: number;

  constructor(
    readonly terms: Terms,
    readonly history: History | undefined,
  ) {
    // How much of the order is a process's own: from none, each event for itself, to runs of one process alone.
    this.spread = ([0, 0.5, 0.9] as const)[hash(terms.orderSeed, 'spread') % 3] as number;
  }

  now(): number {
    return epoch + this.time;
  }

  elapsed(): number {
    return this.time;
  }

  advance(ms: number): void {
    this.time += ms;
  }

  currentFault(): LocalFault | undefined {
    return this.fault;
  }

  get result(): string {
    return (this.digest >>> 0).toString(16).padStart(8, '0');
  }

  /** Something has happened: part of what makes two runs the same. */
  tell(who: string, text: string | (() => string), mark = ''): void {
    this.digest = hash(this.digest, `${who} ${typeof text === 'string' ? text : ''}${mark}${this.time}`);
    this.history?.add(this.now(), who, typeof text === 'string' ? text : text());
  }

  immediate(callback: () => void): () => void {
    this.activity++;
    const entry = { callback, cancelled: false };
    this.immediates.push(entry);
    return () => (entry.cancelled = true);
  }

  timer(process: Process, callback: () => void, ms: number): () => void {
    this.activity++;
    const name = process.nextName('timer');
    // A long one seldom goes before what is at work: most runs are of processes that are not stuck.
    const order = ms > 1_000 ? 0.8 + 0.2 * this.draw(name) : 0.3 + 0.7 * this.draw(name);
    const timer = { name, due: this.time + ms, order, process, callback };
    this.timers.add(timer);
    process.pending++;
    return () => {
      if (this.timers.delete(timer)) process.pending--;
    };
  }

  private draw(name: string): number {
    return draw(this.terms.orderSeed, `order ${name}`);
  }

  /** Waits for its turn. */
  wait(process: Process, name: string, run: () => Promise<void> | void): void {
    this.activity++;
    const { terms, spread } = this;
    const order = terms.inTurn
      ? -1 / ++this.arrivals
      : spread * draw(terms.orderSeed, `order of ${process.place}`) + (1 - spread) * this.draw(name);
    process.pending++;
    const waiting: Waiting = {
      name,
      order,
      run: () => {
        process.pending--;
        return run();
      },
    };
    this.waiting.add(waiting);
  }

  add(process: Process): void {
    this.activity++;
    this.processes.add(process);
  }

  /** What a process waits for is nobody's any more; requests that were sent still arrive. */
  kill(process: Process): void {
    this.activity++;
    process.alive = false;
    this.processes.delete(process);
    for (const timer of this.timers) if (timer.process === process) this.timers.delete(timer);
  }

  end(process: Process): void {
    this.activity++;
    process.ended = true;
    this.processes.delete(process);
  }

  /** One thing after another, until no process is left. */
  async runToEnd(isOver: () => boolean): Promise<void> {
    for (;;) {
      await this.drain();
      if (this.failure !== undefined || isOver()) return;
      const next = this.next();
      if (next === undefined) {
        throw new SimulationError(
          'A process waits for something that the simulation does not see, or for nothing at all.',
        );
      }
      if (++this.steps > this.terms.maxSteps) {
        throw new SimulationError(`The run did not end within ${this.terms.maxSteps} events (maxSteps).`);
      }
      await next();
    }
  }

  private next(): (() => Promise<void> | void) | undefined {
    let first: Waiting | undefined;
    for (const waiting of this.waiting) if (first === undefined || waiting.order < first.order) first = waiting;
    let timer: Timer | undefined;
    for (const other of this.timers) if (timer === undefined || other.due < timer.due) timer = other;
    const isTimer =
      timer !== undefined &&
      (first === undefined || timer.due <= this.time || (!this.terms.inTurn && timer.order < first.order));
    if (isTimer) {
      const due = timer as Timer;
      return () => {
        this.timers.delete(due);
        due.process.pending--;
        this.time = Math.max(this.time, due.due);
        this.digest = hash(this.digest, due.name);
        if (due.process.alive) due.callback();
      };
    }
    if (first === undefined) return undefined;
    const waiting = first;
    return () => {
      this.waiting.delete(waiting);
      this.time += 1 + Math.floor(draw(this.terms.seed, `latency ${waiting.name}`) * 10);
      return waiting.run();
    };
  }

  /** Until every process waits for a request, for a timer, or has ended. */
  private async drain(): Promise<void> {
    let since: number | undefined;
    for (;;) {
      const before = this.activity;
      await turn();
      for (const immediate of this.immediates.splice(0)) if (!immediate.cancelled) immediate.callback();
      if (before !== this.activity || this.outside > 0) continue;
      if (this.failure !== undefined || ![...this.processes].some((process) => process.pending === 0)) return;
      since ??= real.now();
      if (real.now() - since > patienceMs) return;
    }
  }

  /** Sends a request that no fault meets. Nothing else happens until it is answered. */
  async plain(send: () => Promise<Response>): Promise<Response> {
    this.outside++;
    try {
      return await runOutside(send);
    } finally {
      this.outside--;
      this.activity++;
    }
  }

  /** Requests that were sent before their process ended. */
  get isIdle(): boolean {
    return this.waiting.size === 0;
  }

  endAll(): void {
    for (const process of this.processes) this.kill(process);
  }

  /** A request of a process: when it takes effect, whether, and when its answer comes. */
  request(
    process: Process,
    operation: string,
    input: () => Readonly<Record<string, unknown>>,
    send: () => Promise<Response>,
  ): Promise<Response> {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    // Its code runs to its next wait, which never ends.
    if (!process.alive) return promise;
    const name = process.nextName('request');
    const { seed, rates, isLeftOut } = this.terms;
    const spared = this.calm || process.spared;
    const faults = new Set(spared ? [] : faultsOf(seed, rates, name, operation, isLeftOut));
    const who = process.label;
    const what = (): string => this.history?.describe(operation, input()) ?? '';
    const note = (text: string): void => this.tell(who, () => `${what()}: ${text}`, `${operation} ${text}`);
    const token = operation === 'TransactWriteItems' ? input()['ClientRequestToken'] : undefined;
    const meet = (kind: FaultKind): boolean => {
      if (!faults.has(kind)) return false;
      if ((kind === 'conflict' || kind === 'inProgress') && this.committed.has(token)) return false;
      this.faults.push(faultName(kind, name));
      return true;
    };
    const answer = (settle: () => void): void => {
      if (process.alive) this.wait(process, `${name} answer`, () => void (process.alive && settle()));
    };
    const crash = (when: string): void => {
      note(`the process dies ${when}`);
      process.die();
    };
    let outcome = 'done';
    const play = async (fault: LocalFault | undefined): Promise<() => void> => {
      this.fault = fault;
      try {
        const response = await runOutside(send);
        const { statusCode, body } = response.response;
        if (statusCode === 200) this.committed.add(token);
        outcome = statusCode === 200 ? 'done' : refusal(Buffer.from(body).toString());
        return () => resolve(response);
      } catch (error) {
        if (token !== undefined && fault?.at === 'after') this.committed.add(token);
        return () => reject(error);
      } finally {
        this.fault = undefined;
      }
    };
    const arrive = async (): Promise<void> => {
      if (meet('leap')) {
        const ms = Math.ceil(this.terms.leapMs ** draw(seed, `leap ${name}`));
        this.advance(ms);
        this.tell('clock', `${ms} ms pass`);
      }
      if (meet('sweep')) {
        const deleted = await this.sweep();
        this.tell('clock', `time to live deletes ${deleted}`);
      }
      if (!process.alive) {
        // Sent before the process died.
        await play(undefined);
        return note('arrives, though its process is dead');
      }
      const dies = meet('crash');
      if (dies && draw(seed, `crash ${name}`) < 0.4) return crash('before it is sent');
      if (!dies && meet('late')) {
        note('no answer in time');
        this.wait(process, `${name} late`, async () => {
          await play(undefined);
          note('arrives late');
        });
        return answer(() => reject(Object.assign(new Error('No answer in time'), { name: 'TimeoutError' })));
      }
      const error = meet('dropped')
        ? ({ at: 'before', drop: true } as const)
        : meet('refused')
          ? ({ at: 'before', error: 'InternalServerError' } as const)
          : meet('throttled')
            ? ({
                at: 'before',
                error: throttles[Math.floor(draw(seed, `throttle ${name}`) * throttles.length)] as FaultName,
              } as const)
            : meet('conflict')
              ? conflictOf(seed, name, input()['TransactItems'] as object[] | undefined)
              : meet('inProgress')
                ? ({ at: 'before', error: 'TransactionInProgress' } as const)
                : meet('lost')
                  ? ({ at: 'after', drop: true } as const)
                  : undefined;
      const settle = await play(error);
      if (dies) return crash('before the answer');
      const isLost = error !== undefined && 'drop' in error;
      note(!isLost ? outcome : error.at === 'before' ? 'never arrives' : 'takes effect, but the answer is lost');
      answer(settle);
    };
    this.wait(process, name, arrive);
    return promise;
  }

  /** Set by whoever has the table. */
  sweep: () => Promise<number> = () => Promise.resolve(0);
}

/** As the service says that it has too much to do. */
const throttles: readonly FaultName[] = ['Throttling', 'ProvisionedThroughputExceeded', 'TransactionThrottled'];

/** An error of the service, as the history names it. */
const refusal = (body: string): string => {
  const { __type: type, CancellationReasons: reasons } = JSON.parse(body) as {
    __type: string;
    CancellationReasons?: { Code: string }[];
  };
  return `${type.split('#')[1]}${reasons === undefined ? '' : ` [${reasons.map(({ Code }) => Code).join(', ')}]`}`;
};

type Response = Awaited<ReturnType<LocalDynamoDB['requestHandler']['handle']>>;

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    real.setImmediate(resolve);
  });

/** A process, or one life of it. */
export class Process implements VirtualHost {
  alive = true;
  ended = false;
  /** Requests, answers and timers that will make it go on. */
  pending = 0;
  /** The operation it is at, which names what it asks for. */
  place: string;
  spared = false;
  private readonly counts = new Map<string, number>();
  private source: SeededRandom;
  private readonly skew: number;

  constructor(
    private readonly world: World,
    readonly label: string,
    life: number,
    private readonly onDeath: () => void,
  ) {
    this.place = `${label} start ${life}`;
    this.source = randomOf(world.terms.seed, this.place);
    this.skew = Math.round((draw(world.terms.seed, `skew ${label} ${life}`) - 0.5) * world.terms.skewMs);
    world.add(this);
  }

  at(place: string, spared: boolean): void {
    this.place = place;
    this.spared = spared;
    this.counts.clear();
    this.source = randomOf(this.world.terms.seed, place);
  }

  nextName(kind: string): string {
    const count = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, count);
    return `${this.place} ${kind} ${count}`;
  }

  die(): void {
    this.world.kill(this);
    this.onDeath();
  }

  run(fn: () => Promise<unknown>): void {
    const ended = (): void => {
      if (this.alive) this.world.end(this);
    };
    runAs(this, () => void fn().then(ended, ended));
  }

  now(): number {
    return this.world.now() + this.skew;
  }
  elapsed(): number {
    return this.world.elapsed();
  }
  random(): number {
    return this.source.next();
  }
  timer(callback: () => void, ms: number): () => void {
    return this.world.timer(this, callback, ms);
  }
  immediate(callback: () => void): () => void {
    return this.world.immediate(() => {
      if (this.alive) callback();
    });
  }
}
