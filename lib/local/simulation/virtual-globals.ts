import { AsyncLocalStorage } from 'node:async_hooks';
import nodeCrypto, { type BinaryLike } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import nodeTimers from 'node:timers';
import nodeTimersPromises from 'node:timers/promises';

/** Time and chance of a simulated process, in place of the computer's. */
export interface VirtualHost {
  /** The wall clock, in epoch milliseconds. */
  now(): number;
  /** Milliseconds since the run began, which never go back. */
  elapsed(): number;
  /** From 0 to less than 1. */
  random(): number;
  /** Calls back after that time; the result cancels it. */
  timer(callback: () => void, ms: number): () => void;
  /** Calls back before anything else happens. */
  immediate(callback: () => void): () => void;
}

const hosts = new AsyncLocalStorage<VirtualHost>();

/** The time of the computer: taken here, before anything is replaced. */
export const real = {
  Date,
  setImmediate: nodeTimers.setImmediate,
  setTimeout: nodeTimers.setTimeout,
  now: performance.now.bind(performance),
};

/** Runs the function as that process, with all that it starts. */
export const runAs = <R>(host: VirtualHost, fn: () => R): R => hosts.run(host, fn);

/** Runs the function as part of no process. */
export const runOutside = <R>(fn: () => R): R => hosts.exit(fn);

/** A timer as `setTimeout` gives it. */
class VirtualTimer {
  private cancel: (() => void) | undefined;

  constructor(
    private readonly host: VirtualHost,
    private readonly callback: () => void,
    private readonly ms: number | undefined,
    private readonly repeats: boolean,
  ) {
    this.start();
  }

  private start(): void {
    const { host, callback, ms, repeats } = this;
    // As in Node, where nothing is shorter than a millisecond; a callback runs in the context that asked for it.
    const run = AsyncLocalStorage.bind(() => {
      this.cancel = undefined;
      if (repeats) this.start();
      callback();
    });
    this.cancel = ms === undefined ? host.immediate(run) : host.timer(run, ms >= 1 && ms <= 2 ** 31 - 1 ? ms : 1);
  }

  close(): this {
    this.cancel?.();
    this.cancel = undefined;
    return this;
  }

  refresh(): this {
    this.close();
    this.start();
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

type Fn = (...args: unknown[]) => unknown;
interface Patch {
  readonly target: object;
  readonly name: string;
  readonly value: unknown;
}

let installed = false;

/**
 * Replaces time and chance of this process by those of the simulated process that asks; whoever is part of none still gets
 * the computer's own. The result restores everything.
 *
 * @throws Error where they are replaced already
 */
export function installVirtualGlobals(): () => void {
  if (installed) {
    throw new Error('A simulation is running in this process: wait for its end, since both replace its clock.');
  }
  installed = true;
  const restores = patches().map(({ target, name, value }) => {
    const before = Object.getOwnPropertyDescriptor(target, name);
    Object.defineProperty(target, name, {
      value,
      configurable: true,
      writable: true,
      enumerable: before?.enumerable !== false,
    });
    return () => {
      if (before === undefined) Reflect.deleteProperty(target, name);
      else Object.defineProperty(target, name, before);
    };
  });
  syncBuiltinESMExports();
  return () => {
    for (const restore of restores) restore();
    syncBuiltinESMExports();
    installed = false;
  };
}

function patches(): Patch[] {
  const timers = [
    ['setTimeout', timerLike(globalThis.setTimeout as Fn, (ms) => Number(ms ?? 1), false)],
    ['setInterval', timerLike(globalThis.setInterval as Fn, (ms) => Number(ms ?? 1), true)],
    ['setImmediate', timerLike(globalThis.setImmediate as Fn, undefined, false)],
    ...['clearTimeout', 'clearInterval', 'clearImmediate'].map((name) => {
      const original = globalThis[name as 'clearTimeout'] as Fn;
      return [name, (timer: unknown) => (timer instanceof VirtualTimer ? void timer.close() : original(timer))];
    }),
  ] as const;
  const date = virtualDate();
  const random = Math.random;
  const now = performance.now.bind(performance);
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  return [
    ...timers.flatMap(([name, value]) => [
      { target: globalThis, name: name as string, value },
      { target: nodeTimers, name: name as string, value },
    ]),
    { target: globalThis, name: 'Date', value: date },
    { target: Date.prototype, name: 'constructor', value: date },
    { target: Math, name: 'random', value: () => hosts.getStore()?.random() ?? random() },
    { target: performance, name: 'now', value: () => hosts.getStore()?.elapsed() ?? now() },
    {
      target: AbortSignal,
      name: 'timeout',
      value: (ms: number) => (hosts.getStore() === undefined ? timeout(ms) : timeoutSignal(ms)),
    },
    ...promisedTimers(),
    ...cryptography(),
  ];
}

function timerLike(original: Fn, msOf: ((ms: unknown) => number) | undefined, repeats: boolean): Fn {
  const virtual = (callback: unknown, ...rest: unknown[]): unknown => {
    const host = hosts.getStore();
    if (host === undefined || typeof callback !== 'function') return original(callback, ...rest);
    const args = msOf === undefined ? rest : rest.slice(1);
    return new VirtualTimer(host, () => void (callback as Fn)(...args), msOf?.(rest[0]), repeats);
  };
  // What `util.promisify` looks for.
  for (const symbol of Object.getOwnPropertySymbols(original)) {
    Object.defineProperty(virtual, symbol, {
      get: () => nodeTimersPromises[msOf === undefined ? 'setImmediate' : 'setTimeout'],
    });
  }
  return virtual;
}

function virtualDate(): DateConstructor {
  const original = Date;
  function VirtualDate(this: unknown, ...args: unknown[]): unknown {
    const host = hosts.getStore();
    if (new.target === undefined) return new original(host?.now() ?? original.now()).toString();
    const given = args.length === 0 ? [host?.now() ?? original.now()] : args;
    return Reflect.construct(original, given, (new.target as unknown) === VirtualDate ? original : new.target);
  }
  Object.defineProperties(VirtualDate, {
    ...Object.getOwnPropertyDescriptors(original),
    now: { value: () => hosts.getStore()?.now() ?? original.now(), configurable: true, writable: true },
  });
  return VirtualDate as unknown as DateConstructor;
}

function timeoutSignal(ms: number): AbortSignal {
  const controller = new AbortController();
  const late = (): void =>
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  setTimeout(late, ms);
  return controller.signal;
}

interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
}

function promisedTimers(): Patch[] {
  const { setTimeout: wait, setImmediate: turn, setInterval: every, scheduler } = nodeTimersPromises;
  const waitFor = (start: (done: () => void) => void, value: unknown, { signal }: WaitOptions = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const abort = (): void => {
        const error = new Error('The operation was aborted', { cause: signal?.reason });
        reject(Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' }));
      };
      if (signal?.aborted === true) return abort();
      signal?.addEventListener('abort', abort, { once: true });
      start(() => {
        signal?.removeEventListener('abort', abort);
        resolve(value);
      });
    });
  const virtualWait = (ms?: number, value?: unknown, options?: WaitOptions): Promise<unknown> =>
    hosts.getStore() === undefined
      ? wait(ms, value, options)
      : waitFor((done) => void setTimeout(done, ms), value, options);
  const virtualTurn = (value?: unknown, options?: WaitOptions): Promise<unknown> =>
    hosts.getStore() === undefined ? turn(value, options) : waitFor((done) => void setImmediate(done), value, options);
  async function* virtualEvery(ms?: number, value?: unknown, options?: WaitOptions): AsyncGenerator<unknown> {
    for (;;) yield await virtualWait(ms, value, options);
  }
  return [
    { target: nodeTimersPromises, name: 'setTimeout', value: virtualWait },
    { target: nodeTimersPromises, name: 'setImmediate', value: virtualTurn },
    {
      target: nodeTimersPromises,
      name: 'setInterval',
      value: (ms?: number, value?: unknown, options?: WaitOptions) =>
        hosts.getStore() === undefined ? every(ms, value, options) : virtualEvery(ms, value, options),
    },
    {
      target: scheduler,
      name: 'wait',
      value: (ms: number, options?: WaitOptions) => virtualWait(ms, undefined, options),
    },
    { target: scheduler, name: 'yield', value: () => virtualTurn() },
  ];
}

function cryptography(): Patch[] {
  const { randomUUID, randomBytes, randomInt, randomFillSync } = nodeCrypto;
  const { webcrypto } = nodeCrypto;
  const getRandomValues = webcrypto.getRandomValues.bind(webcrypto) as <T extends BinaryLike>(array: T) => T;
  const filled = <T>(host: VirtualHost, array: T): T => {
    const { buffer, byteOffset, byteLength } = array as unknown as Uint8Array;
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    for (let i = 0; i < byteLength; i++) bytes[i] = Math.floor(host.random() * 256);
    return array;
  };
  const uuid = (...args: unknown[]): string => {
    const host = hosts.getStore();
    if (host === undefined) return (randomUUID as Fn)(...args) as string;
    const bytes = filled(host, Buffer.alloc(16));
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  };
  const answered = <T>(callback: unknown, value: T): T | undefined => {
    if (typeof callback !== 'function') return value;
    setImmediate(() => void (callback as Fn)(null, value));
    return undefined;
  };
  const bytes = (size: number, callback?: unknown): unknown => {
    const host = hosts.getStore();
    if (host === undefined) return (randomBytes as Fn)(size, ...(callback === undefined ? [] : [callback]));
    return answered(callback, filled(host, Buffer.alloc(size)));
  };
  const integer = (...args: unknown[]): unknown => {
    const host = hosts.getStore();
    if (host === undefined) return (randomInt as Fn)(...args);
    const numbers = args.filter((arg) => typeof arg === 'number');
    const [least, end] = numbers.length > 1 ? (numbers as [number, number]) : [0, numbers[0] as number];
    return answered(args.at(-1), least + Math.floor(host.random() * (end - least)));
  };
  const fillSync = (array: unknown, ...args: unknown[]): unknown => {
    const host = hosts.getStore();
    return host === undefined ? (randomFillSync as Fn)(array, ...args) : filled(host, array);
  };
  const values = <T extends BinaryLike>(array: T): T => {
    const host = hosts.getStore();
    return host === undefined ? getRandomValues(array) : filled(host, array);
  };
  return [
    { target: nodeCrypto, name: 'randomUUID', value: uuid },
    { target: nodeCrypto, name: 'randomBytes', value: bytes },
    { target: nodeCrypto, name: 'randomInt', value: integer },
    { target: nodeCrypto, name: 'randomFillSync', value: fillSync },
    { target: webcrypto, name: 'randomUUID', value: uuid },
    { target: webcrypto, name: 'getRandomValues', value: values },
  ];
}
