import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createTable, table, type Table } from '../../lib/commands/index.js';
import type { Scenario, SimulatedClientConfig, SimulationOptions } from '../../lib/local/index.js';

/** A scenario of the kit's own, with what its runs take. */
export interface Workload {
  readonly name: string;
  readonly options: Omit<SimulationOptions, 'seeds'>;
  readonly scenario: () => Scenario<unknown, unknown>;
}

/** Keeps the types of a scenario's parts together. */
export const workload = <Op, App>(
  name: string,
  options: Workload['options'],
  scenario: () => Scenario<Op, App>,
): Workload => ({ name, options: { maxSteps: 5_000, ...options }, scenario: () => withoutRefusals(scenario()) });

/** No fault is answered like this: the kit or the workload is broken, and does nothing that could go wrong. */
const withoutRefusals = <Op, App>(scenario: Scenario<Op, App>): Scenario<Op, App> => ({
  ...scenario,
  async run(app, op, call) {
    try {
      return await scenario.run(app, op, call);
    } catch (error) {
      const isRefusal =
        error instanceof TypeError || ['InvalidInputError', 'ValidationException'].includes(nameOf(error));
      call.invariant(!isRefusal, `An operation was refused: ${String(error)}`);
      throw error;
    }
  },
});

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');

/** The table as one process sees it. */
export const shopOf = (clientConfig: SimulatedClientConfig, name = 'shop'): Table =>
  table({ name, client: new DynamoDBClient(clientConfig) });

/** Makes the table. */
export const makeShop = ({ clientConfig }: { clientConfig: SimulatedClientConfig }): Promise<unknown> =>
  createTable(shopOf(clientConfig)).stream().timeToLive().send();

/** Throws where the model says otherwise. */
export const must = (holds: boolean, message: string): void => {
  if (!holds) throw new BrokenError(message);
};

/** All there is of them. */
export const allOf = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

/** Something is not as the model says. */
export class BrokenError extends Error {
  override readonly name = 'BrokenError';
}
