import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import {
  createTable,
  entity,
  integer,
  string,
  table,
  transactWrite,
  type StepFailure,
  type TransactionCanceledException,
} from '../../../lib/commands/index.js';
import { SimulationFailure, simulate } from '../../../lib/local/index.js';
import type { Scenario, SimulatedClientConfig, SimulationOptions } from '../../../lib/local/index.js';

const Counter = entity('COUNTER', { pk: 'COUNTER#{id}', sk: 'X', attributes: { id: string(), count: integer() } });
const shopOf = (clientConfig: SimulatedClientConfig) =>
  table({ name: 'shop', client: new DynamoDBClient(clientConfig) });
type Shop = ReturnType<typeof shopOf>;

/** Counts by reading and writing, which loses what others counted meanwhile. */
const careless = (): Scenario<string, Shop> => {
  let counted = 0;
  return {
    prepare: ({ clientConfig }) => createTable(shopOf(clientConfig)).send(),
    plan: (random) => Array.from({ length: 4 }, () => Array.from({ length: random.integer(1, 5) }, () => 'count')),
    start: ({ clientConfig }) => shopOf(clientConfig),
    async run(shop) {
      const { count } = (await shop.of(Counter).get({ id: 'a' }).consistent().item()) ?? { count: 0 };
      await shop.of(Counter).put({ id: 'a', count: count + 1 });
      counted++;
    },
    async check({ clientConfig }) {
      const stored = await shopOf(clientConfig).of(Counter).get({ id: 'a' }).item();
      if ((stored?.count ?? 0) < counted) throw new Error(`${stored?.count} of ${counted} are stored.`);
    },
  };
};

const failureOf = async <Op, App>(
  scenario: () => Scenario<Op, App>,
  options: SimulationOptions,
): Promise<SimulationFailure> => {
  try {
    await simulate(scenario, options);
  } catch (error) {
    if (error instanceof SimulationFailure) return error;
    throw error;
  }
  throw new Error('Nothing failed.');
};

/** One client that does this once. */
const doing =
  (run: Scenario<string, Shop>['run'], check: Scenario<string, Shop>['check'] = () => undefined) =>
  () => ({
    ...careless(),
    plan: () => [['do it']],
    run,
    check,
  });

describe('a seed', () => {
  it('gives the same run each time, and another one for another seed', async () => {
    const digests = async (): Promise<string[]> => {
      const all: string[] = [];
      const scenario = (): Scenario<string, Shop> => ({ ...careless(), check: () => undefined });
      await simulate(scenario, { seeds: 50, onRun: ({ digest }) => all.push(digest) });
      return all;
    };
    const first = await digests();
    expect(await digests()).toEqual(first);
    expect(new Set(first).size).toBe(50);
  });

  it('gives each operation the same clock, waits and random numbers', async () => {
    const seen: unknown[][] = [[], []];
    for (const list of seen) {
      const run = async (): Promise<void> => {
        list.push(new Date().toISOString(), Date.now(), performance.now(), Math.random(), randomUUID());
        const started = performance.now();
        await wait(5_000);
        list.push(performance.now() - started);
        await new Promise((resolve) => setTimeout(resolve, 100_000));
        list.push(performance.now() - started, new Date(0).toISOString(), typeof Date());
      };
      await simulate(doing(run), { seeds: 3 });
    }
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[0]).toContain('1970-01-01T00:00:00.000Z');
    expect(seen[0]?.[5]).toBeGreaterThanOrEqual(5_000);
    expect(seen[0]?.[5]).toBeLessThan(5_100);
  });

  it('is left to whoever runs it: the computer has its own clock back after it, and others have it meanwhile', async () => {
    const { setTimeout: timeout, Date: date } = globalThis;
    const { random } = Math;
    const running = simulate(careless, { seeds: { from: 7, count: 1 }, shrink: false }).catch(() => undefined);
    const others = Date.now();
    await running;
    expect(Math.abs(others - Date.now())).toBeLessThan(60_000);
    expect([globalThis.setTimeout, globalThis.Date, Math.random]).toEqual([timeout, date, random]);
  });
});

it('lets nothing else happen while a request of what surrounds it is answered', async () => {
  let outside: Shop;
  const passed: number[] = [];
  const scenario = (): Scenario<string, Shop> => ({
    ...careless(),
    async prepare({ clientConfig }) {
      outside = shopOf(clientConfig);
      await createTable(outside).send();
    },
    async run() {
      const timers = [1, 2, 3].map((ms) => wait(ms));
      const before = performance.now();
      await Promise.all(Array.from({ length: 20 }, () => outside.of(Counter).get({ id: 'a' }).item()));
      passed.push(performance.now() - before);
      await Promise.all(timers);
    },
    check: () => undefined,
  });
  await simulate(scenario, { seeds: 5 });
  expect(new Set(passed)).toEqual(new Set([0]));
});

it('cancels transactions for mixed reasons, of which the conditions that it names are true', async () => {
  const reasons = new Set<string>();
  await simulate(
    () => ({
      ...doing(async (shop) => {
        const counters = shop.of(Counter);
        const outcome = await transactWrite(shop, {
          there: counters.unique({ id: 'there', count: 2 }).returnOldOnFailure(),
          new: counters.unique({ id: 'new', count: 2 }).returnOldOnFailure(),
          other: counters.update({ id: 'other' }).set({ count: 1 }),
        })
          .trySend()
          .catch((error: unknown) => error as TransactionCanceledException);
        if (!('failed' in outcome)) return;
        const others = 'others' in outcome ? (outcome.others as object) : {};
        expect(outcome.failed['new' as never] ?? {}).not.toHaveProperty('item');
        const all: Record<string, StepFailure> = { ...outcome.failed, ...others };
        for (const step of ['there', 'new', 'other']) reasons.add(`${step} ${all[step]?.reason}`);
        if (all['there']?.reason === 'ConditionalCheckFailed')
          expect(all['there'].item).toEqual({ id: 'there', count: 1 });
      })(),
      async prepare({ clientConfig }) {
        await createTable(shopOf(clientConfig));
        await shopOf(clientConfig).of(Counter).put({ id: 'there', count: 1 });
      },
    }),
    { seeds: 200, faults: { conflict: 1 } },
  );
  for (const step of ['there', 'new', 'other']) expect(reasons).toContain(`${step} TransactionConflict`);
  for (const reason of ['ThrottlingError', 'ProvisionedThroughputExceeded', 'ItemCollectionSizeLimitExceeded'])
    expect([...reasons].join()).toContain(reason);
  expect(reasons).toContain('there ConditionalCheckFailed');
  expect(reasons).toContain('there undefined');
  expect(reasons).not.toContain('new ConditionalCheckFailed');
});

describe('a failure', () => {
  it('is found, and shrunk to two clients that count once each, without faults', async () => {
    const failure = await failureOf(careless, { seeds: 200 });
    expect(failure).toMatchObject({ operations: 2, faults: 0 });
    expect(failure.message).toMatch(/^Seed \d+ fails: 1 of 2 are stored\.\n2 operations, 0 faults:\n/);
    const requests = failure.history.split('\n').filter((line) => line.includes('Item COUNTER#a/X: done'));
    expect(requests).toHaveLength(4);
    expect(new Set(requests.map((line) => line.slice(12, 24)))).toHaveProperty('size', 2);
  });

  it('keeps the faults that it takes', async () => {
    // Each count is stored once, or the answer is an error: wrong for an add that the client sends again.
    const scenario = (): Scenario<string, Shop> => {
      let asked = 0;
      return {
        ...careless(),
        async run(shop, _op, { attempt }) {
          if (attempt > 1) return;
          asked++;
          await shop.of(Counter).update({ id: 'a' }).add(Counter.attrs.count, 1);
        },
        async check({ clientConfig }) {
          const stored = await shopOf(clientConfig).of(Counter).get({ id: 'a' }).item();
          if ((stored?.count ?? 0) > asked) throw new Error('Counted twice.');
        },
      };
    };
    const failure = await failureOf(scenario, { seeds: 200 });
    expect(failure).toMatchObject({ operations: 1, faults: 1 });
    expect(failure.history).toMatch(
      /UpdateItem COUNTER#a\/X: (takes effect, but the answer is lost|no answer in time)/,
    );
    await expect(simulate(scenario, { seeds: 200, faults: { lost: 0, late: 0 } })).resolves.toMatchObject({
      runs: 200,
    });
  });

  it('is counted in words', async () => {
    const run: Scenario<string, Shop>['run'] = async (shop, _op, { invariant }) => {
      await shop.of(Counter).get({ id: 'a' }).item();
      invariant(false, 'never so');
    };
    const { message } = await failureOf(doing(run), { seeds: 1 });
    expect(message).toMatch(/^Seed 1 fails: never so\n1 operation, 0 faults:\n/);
  });

  it('that takes no operation says so, instead of a history of nothing', async () => {
    const check = (): never => {
      throw new Error('never right.');
    };
    const { message, operations, history } = await failureOf(
      doing(() => Promise.resolve(), check),
      { seeds: 1 },
    );
    expect({ operations, history }).toEqual({ operations: 0, history: '' });
    expect(message).toBe(
      'Seed 1 fails: never right.\nIt fails with no operation at all, in prepare, plan, settle or check.',
    );
  });

  it('of an invariant ends the run at once', async () => {
    const run: Scenario<string, Shop>['run'] = (_shop, _op, { invariant }) => {
      invariant(false, 'never so');
      return Promise.resolve();
    };
    await expect(failureOf(doing(run), { seeds: 1 })).resolves.toMatchObject({ seed: 1, operations: 1, faults: 0 });
  });

  it('is a run that does not end, or waits for what is not simulated', async () => {
    const forever = doing(() => wait(1e6).then(() => new Promise<never>(() => undefined)));
    await expect(failureOf(forever, { seeds: 1, shrink: false })).resolves.toMatchObject({ operations: 1 });
    const endless = doing(async (shop) => {
      for (;;) await shop.of(Counter).get({ id: 'a' }).item();
    });
    const failure = await failureOf(endless, { seeds: 1, shrink: false, maxSteps: 100, faults: { crash: 0 } });
    expect(failure.message).toContain('did not end within 100 events');
  }, 60_000);
});

describe('a report', () => {
  it('counts the operations that ended with an error, so that a scenario whose operations all throw is seen', async () => {
    const faults = { crash: 0 };
    const throwing = doing(() => Promise.reject(new TypeError('a slip')));
    expect(await simulate(throwing, { seeds: 5, faults })).toMatchObject({ runs: 5, operations: 5, rejected: 5 });
    const fine = doing(() => Promise.resolve());
    expect(await simulate(fine, { seeds: 5, faults })).toMatchObject({ operations: 5, rejected: 0 });
  });

  it('counts an operation once whose process died in it', async () => {
    const scenario = doing(async (shop) => {
      await shop.of(Counter).get({ id: 'a' }).item();
      throw new Error('not so');
    });
    expect(await simulate(scenario, { seeds: 50, faults: { crash: 0.3 } })).toMatchObject({
      operations: 50,
      rejected: 50,
    });
  });
});

describe('a process', () => {
  it('that dies starts again, without what it held in memory, and does its operation again', async () => {
    const attempts: number[] = [];
    let started = 0;
    const scenario = (): Scenario<string, { calls: number; shop: Shop }> => ({
      prepare: ({ clientConfig }) => createTable(shopOf(clientConfig)).send(),
      plan: () => [['get', 'get', 'get']],
      start({ clientConfig }) {
        started++;
        return { calls: 0, shop: shopOf(clientConfig) };
      },
      async run(app, _op, { attempt }) {
        if (attempt > 1) expect(app.calls).toBe(0);
        app.calls++;
        attempts.push(attempt);
        await app.shop.of(Counter).get({ id: 'a' }).item();
      },
      check: () => undefined,
    });
    await simulate(scenario, { seeds: 50, faults: { crash: 0.2 } });
    const crashes = attempts.filter((attempt) => attempt > 1).length;
    expect(crashes).toBeGreaterThan(5);
    expect(started).toBe(50 + crashes);
  });

  it('meets every kind of fault by the names that DynamoDB and the SDK give them', async () => {
    const names = new Set<string>();
    const scenario = (): Scenario<string, DynamoDBClient> => ({
      prepare: ({ clientConfig }) => createTable(shopOf(clientConfig)).send(),
      plan: () => [['put', 'put', 'get']],
      start: ({ clientConfig }) => new DynamoDBClient({ ...clientConfig, maxAttempts: 1 }),
      async run(client, op) {
        const Key = { pk: { S: 'a' }, sk: { S: 'b' } };
        const command =
          op === 'put'
            ? new PutItemCommand({ TableName: 'shop', Item: Key })
            : new GetItemCommand({ TableName: 'shop', Key });
        await client.send(command as PutItemCommand).catch((error: Error) => names.add(error.name));
      },
      check: () => undefined,
    });
    await simulate(scenario, { seeds: 200 });
    expect([...names].sort()).toEqual([
      'Error',
      'InternalServerError',
      'ProvisionedThroughputExceededException',
      'ThrottlingException',
      'TimeoutError',
      'TransactionConflictException',
    ]);
  });
});

describe('options', () => {
  it('that are none are refused before anything runs', async () => {
    await expect(simulate(careless, { seeds: 0 })).rejects.toThrow('seeds must be');
    await expect(simulate(careless, { faults: { lost: 2 } })).rejects.toThrow('faults.lost must be');
    await expect(simulate(careless, { faults: { gone: 1 } as never })).rejects.toThrow('faults.gone is no fault');
    await expect(simulate(careless, { seed: 3 } as never)).rejects.toThrow(
      'seed is no option: expected one of seeds, faults, leapMs, skewMs, maxSteps, shrink, onRun; ' +
        'one seed is { seeds: { from: 17, count: 1 } }.',
    );
    await expect(simulate(careless, { steps: 3 } as never)).rejects.toThrow(
      'steps is no option: expected one of seeds,',
    );
    await expect(simulate(careless, { shrink: 'no' as never })).rejects.toThrow('shrink must be true or false');
    await expect(simulate(careless, { leapMs: 0 })).rejects.toThrow('leapMs must be');
    await expect(simulate(careless, { skewMs: -1 })).rejects.toThrow('skewMs must be');
    for (const seeds of [null, 'x', {}, { from: 1 }, 1n]) {
      await expect(simulate(careless, { seeds: seeds as never })).rejects.toThrow('seeds must be');
    }
    await expect(simulate(careless, { maxSteps: '5' as never })).rejects.toThrow('maxSteps must be a number');
    await expect(simulate(careless, { faults: null as never })).rejects.toThrow('faults must be an object');
    await expect(simulate(careless, { onRun: 1 as never })).rejects.toThrow('onRun must be a function');
    await expect(simulate(careless, null as never)).rejects.toThrow('The options must be an object');
    await expect(simulate('x' as never)).rejects.toThrow('simulate takes a function');
  });

  it('of two simulations at once are refused', async () => {
    const first = simulate(
      doing(() => Promise.resolve()),
      { seeds: 1 },
    );
    await expect(simulate(careless)).rejects.toThrow('A simulation is running in this process');
    await first;
  });
});
