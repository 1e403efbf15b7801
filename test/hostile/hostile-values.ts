import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import { SafeWritesError, tracingChannelName } from '../../lib/commands/index.js';
import { jsonTexts, secret, texts } from './corpus.js';

/** What a trap of a caller's own object throws: it is the caller's, and comes through as it is. */
export class Trap extends Error {}

const spring = (): never => {
  throw new Trap('a trap');
};

/** Text with the secret in it, beside what means something to some parser. */
export const hostileText: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...texts), fc.oneof(fc.constantFrom(...texts), fc.string({ unit: 'binary', maxLength: 8 })))
  .map(([a, b]) => `${a}${secret}${b}`);

const hugeNumbers = [-0, 2 ** 53, -(2 ** 53) - 2, 1e21, 5e-324, 1.7976931348623157e308, 4e15, -1, 0.1];

/** What JSON can hold, so what an event can. */
export const hostileJson: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: hostileText },
  fc.constantFrom<unknown>(null, true, false, '', 0, [], {}, [null], [[]], { S: null }, { N: secret }, ...hugeNumbers),
  fc.constantFrom(...texts),
  fc.constantFrom(...jsonTexts),
  fc.dictionary(fc.oneof(hostileText, fc.constantFrom('S', 'M', 'pk', 'length', 'then', 'constructor')), hostileText),
  fc.array(hostileText, { maxLength: 3 }),
  fc.constant(JSON.parse(`{"__proto__":{"polluted":"${secret}"},"a":"${secret}"}`) as unknown),
);

const traps: ProxyHandler<object> = { get: spring, has: spring, ownKeys: spring, getPrototypeOf: spring };

/** What only code can hand over, made when called: fast-check itself would step into the traps. */
export const hostileValue: fc.Arbitrary<() => unknown> = fc.oneof(
  hostileJson.map((value) => Object.assign(() => value, { [fc.toStringMethod]: () => JSON.stringify(value) })),
  fc.constantFrom<() => unknown>(
    () => undefined,
    () => NaN,
    () => Infinity,
    () => 10n ** 400n,
    () => Symbol(secret),
    () => spring,
    () => new Date(NaN),
    () => new Map([[secret, secret]]),
    () => new Set([secret, undefined]),
    () => new Proxy({}, traps),
    () => new Proxy([], traps),
    () =>
      new Proxy(
        Object.assign(() => undefined, { a: secret }),
        {},
      ),
    () => ({
      get id() {
        return spring();
      },
    }),
    () => Object.assign(Object.create(null) as object, { id: secret }),
    () => Object.create(Object.assign(Object.create(null) as object, { id: secret })),
    () => Object.create({ id: secret }),
    () => ({ toString: spring, valueOf: spring, toJSON: spring }),
    () => ({ [Symbol.toPrimitive]: spring, id: secret }),
    () => ({ then: spring }),
    () => Object.freeze([secret]),
    () => Object.assign([secret], { id: secret }),
    () => Array<unknown>(5),
    () => Buffer.from(secret),
    () => new Error(secret),
    () => new String(secret),
    () => {
      const self: Record<string, unknown> = { id: secret };
      self['self'] = self;
      return self;
    },
  ),
);

type Path = readonly (string | number)[];

const pathsOf = (value: unknown, path: Path = []): Path[] =>
  typeof value === 'object' && value !== null
    ? [path, ...Object.entries(value).flatMap(([name, member]) => pathsOf(member, [...path, name]))]
    : [path];

const absent = Symbol('absent');

const replaced = (value: unknown, [step, ...rest]: Path, by: unknown): unknown => {
  if (step === undefined) return by;
  if (typeof value !== 'object' || value === null) return value;
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>;
  if (!Object.hasOwn(copy, step)) return copy;
  const member = replaced(copy[step], rest, by);
  if (member !== absent) copy[step] = member;
  else if (Array.isArray(copy)) copy.splice(Number(step), 1);
  else delete copy[step];
  return copy;
};

/** What a good event becomes where some parts of it are gone or hostile. */
export const mutated = (good: unknown, keep: (path: string) => boolean = () => false): fc.Arbitrary<unknown> => {
  const paths = pathsOf(good).filter((path) => !keep(path.join('.')));
  const change = fc.tuple(
    fc.constantFrom(...paths),
    fc.oneof({ weight: 5, arbitrary: hostileJson }, fc.constant(absent)),
  );
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    const event = changes.reduce((value, [path, by]) => replaced(value, path, by), good);
    return event === absent ? undefined : event;
  });
};

/** Refuses text for people that holds the secret. */
export const expectNoSecret = (...said: readonly unknown[]): void => {
  for (const one of said) {
    // What JSON leaves out is for code; what inspect prints stands in logs.
    const written = typeof one === 'string' ? one : `${inspect(one, { depth: 8 })} ${JSON.stringify(one) ?? ''}`;
    if (written.includes(secret)) expect.fail(`the secret stands in ${written.slice(0, 2000)}`);
  }
};

/** What was thrown at a caller: an error of the kit that says nothing of what was given, or the caller's own trap. */
export const expectRefusal = (error: unknown): void => {
  if (error instanceof Trap) return;
  if (!(error instanceof SafeWritesError)) throw new Error('no error of the kit', { cause: error });
  expectNoSecret(error.message, error.stack ?? '', error);
};

/** Calls, and checks what it throws. */
export const refusesOrTakes = async (call: () => unknown): Promise<unknown> => {
  try {
    return await call();
  } catch (error) {
    expectRefusal(error);
    return undefined;
  }
};

/** Keeps whatever a process says while tests run: console, standard output, and the payloads of the tracing channel. */
export const witness = (): { readonly expectNoSecret: () => void; readonly stop: () => void } => {
  const said: unknown[] = [];
  const hear = (...all: unknown[]): void => void said.push(...all);
  const spies = (['log', 'info', 'warn', 'error', 'debug'] as const).map((level) =>
    vi.spyOn(console, level).mockImplementation(hear),
  );
  const channels = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'].map(
    (name) => `tracing:${tracingChannelName}:${name}`,
  );
  // At once: what a call was traced with is changed as it goes on.
  const listen = (message: unknown): void => expectNoSecret(message);
  for (const channel of channels) subscribe(channel, listen);
  return {
    expectNoSecret: () => expectNoSecret(...said.splice(0)),
    stop: () => {
      for (const channel of channels) unsubscribe(channel, listen);
      for (const spy of spies) spy.mockRestore();
    },
  };
};

/** Has each test of the file say nothing of the secret. */
export const witnessEach = (): void => {
  let heard: ReturnType<typeof witness>;
  beforeEach(() => {
    heard = witness();
  });
  afterEach(() => {
    heard.expectNoSecret();
    heard.stop();
  });
};
