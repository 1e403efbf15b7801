import { createLocalDynamoDB, type LocalDynamoDB } from '../local-dynamodb.js';
import { raceAbort, targetOf, textOf } from '../request-handler.js';
import { History } from './history.js';
import { randomOf } from './random.js';
import type { Scenario, SimulatedClientConfig, SimulatedWorld } from './scenario.js';
import { Process, World, epoch, type Terms } from './world.js';

/** One operation of the plan, by its place there: it keeps its name where others are left out. */
export interface Planned {
  readonly client: number;
  readonly index: number;
}

export interface RunResult {
  readonly failure: { readonly error: unknown } | undefined;
  /** The same for two runs in which the same happened. */
  readonly digest: string;
  /** What was planned, without what was left out. */
  readonly planned: readonly Planned[];
  /** How many operations ended with an error. */
  readonly rejected: number;
  readonly faults: readonly string[];
  readonly history: string;
}

type AnyScenario = Scenario<unknown, unknown>;

/** One run of a scenario. Virtual globals are installed by the caller. */
export async function runScenario(
  scenario: AnyScenario,
  terms: Terms,
  isDone: (planned: Planned) => boolean,
  recorded: boolean,
): Promise<RunResult> {
  const history = recorded ? new History(epoch) : undefined;
  const world = new World(terms, history);
  const local = await createLocalDynamoDB({ clock: () => world.now(), faults: () => world.currentFault() });
  const run = new Run(scenario, world, local, history);
  world.sweep = () => local.sweep();
  try {
    await run.all(isDone);
  } catch (error) {
    world.failure ??= { error };
  } finally {
    world.endAll();
    await local.close();
  }
  return {
    failure: world.failure,
    digest: world.result,
    planned: run.planned,
    rejected: run.rejected,
    faults: world.faults,
    history: history?.toString() ?? '',
  };
}

class Run {
  planned: readonly Planned[] = [];
  rejected = 0;
  private unfinished = 0;

  constructor(
    private readonly scenario: AnyScenario,
    private readonly world: World,
    private readonly local: LocalDynamoDB,
    private readonly history: History | undefined,
  ) {}

  async all(isDone: (planned: Planned) => boolean): Promise<void> {
    const { scenario, world } = this;
    const outside = (process: Process): SimulatedWorld => ({
      clientConfig: this.clientConfig(process, false),
      now: () => world.now(),
      advance: (ms) => world.advance(ms),
      sweep: () => this.local.sweep(),
    });
    await this.alone('prepare', (process) => scenario.prepare(outside(process)));
    const plan = scenario.plan(randomOf(world.terms.seed, 'plan'));
    const planned = plan
      .flatMap((ops, client) => ops.map((_op, index) => ({ client, index })))
      .filter((place) => isDone(place));
    this.planned = planned;
    plan.forEach((ops, client) => {
      const places = planned.filter((place) => place.client === client);
      if (places.length === 0) return;
      this.unfinished++;
      this.client(
        client,
        places.map(({ index }) => ({ index, op: ops[index] })),
        0,
        1,
      );
    });
    await world.runToEnd(() => this.unfinished === 0);
    world.endAll();
    await world.runToEnd(() => world.isIdle);
    world.calm = true;
    if (world.failure === undefined && scenario.settle !== undefined) {
      await this.alone('settle', async (process) => {
        const app = await scenario.start({ client: -1, clientConfig: this.clientConfig(process, true) });
        await scenario.settle?.(app, outside(process));
      });
    }
    if (world.failure === undefined) await this.alone('check', (process) => scenario.check(outside(process)));
  }

  /** Runs one process to its end, with nobody else. */
  private async alone(label: string, fn: (process: Process) => unknown): Promise<void> {
    const { world } = this;
    let over = false;
    const process = new Process(world, label, 1, () => undefined);
    process.run(async () => {
      try {
        await fn(process);
      } catch (error) {
        world.failure ??= { error };
      }
      over = true;
    });
    await world.runToEnd(() => over);
    world.endAll();
  }

  /** A client's process, from one operation on; another one takes over where it dies. */
  private client(
    client: number,
    ops: readonly { index: number; op: unknown }[],
    from: number,
    life: number,
    died = 0,
  ): void {
    const { scenario, world } = this;
    let at = from;
    let attempt = died + 1;
    const label = `client ${client}`;
    const process: Process = new Process(world, label, life, () => this.client(client, ops, at, life + 1, attempt));
    const random = (index: number) => randomOf(world.terms.seed, `${label} ${index} ${attempt}`);
    const work = async (): Promise<void> => {
      process.at(`${label} start ${life}`, life > 3);
      const app = await scenario.start({ client, clientConfig: this.clientConfig(process, true) });
      for (; at < ops.length; at++, attempt = 1) {
        const { index, op } = ops[at] as { index: number; op: unknown };
        process.at(`${label} operation ${index} attempt ${attempt}`, attempt > 3);
        world.tell(label, () => `begins ${text(op)}${attempt > 1 ? ', again' : ''}`, 'begins');
        try {
          const result = await scenario.run(app, op, {
            client,
            attempt,
            random: random(index),
            note: (line) => world.tell(label, line),
            invariant: (holds, message) => {
              if (!holds) world.failure ??= { error: new Error(message) };
            },
          });
          world.tell(label, `ends${result === undefined ? '' : ` with ${text(result)}`}`);
        } catch (error) {
          if (process.alive) this.rejected++;
          world.tell(label, `ends with ${error instanceof Error ? error.name : 'an error'}`);
        }
      }
    };
    world.wait(process, `${label} start ${life}`, () =>
      process.run(async () => {
        try {
          await work();
        } catch (error) {
          world.failure ??= { error };
        }
        if (process.alive) this.unfinished--;
      }),
    );
  }

  private clientConfig(process: Process, gated: boolean): SimulatedClientConfig {
    const { world, local, history } = this;
    const { requestHandler } = local;
    return {
      ...local.clientConfig,
      ...settings,
      requestHandler: {
        ...requestHandler,
        handle: (request, { abortSignal } = {}) => {
          const operation = targetOf(request).split('.')[1] ?? '';
          const input = (): Record<string, unknown> =>
            JSON.parse(textOf(request.body) || '{}') as Record<string, unknown>;
          history?.learn(operation, input());
          const send = () => requestHandler.handle(request);
          return raceAbort(gated ? world.request(process, operation, input, send) : world.plain(send), abortSignal);
        },
      },
    };
  }
}

/** What the SDK would look for in the environment and in files, which may say anything; and nobody reads signatures. */
const settings = {
  accountIdEndpointMode: 'disabled',
  authSchemePreference: ['aws.auth#sigv4'],
  endpointDiscoveryEnabledProvider: () => Promise.resolve(undefined),
  maxAttempts: 4,
  retryMode: 'standard',
  useDualstackEndpoint: false,
  useFipsEndpoint: false,
  userAgentAppId: () => Promise.resolve(undefined),
  signerConstructor: class {
    sign<R>(request: R): Promise<R> {
      return Promise.resolve(request);
    }
  },
};

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
