export type { FaultError, FaultName, FaultRequest, Faults, LocalFault } from './faults.js';
export { createLocalDynamoDB } from './local-dynamodb.js';
export type { LocalDynamoDB, LocalDynamoDBOptions } from './local-dynamodb.js';
export type { LocalRequestHandler } from './request-handler.js';
export type { LocalRequest } from './request-log.js';
export type { SeededRandom } from './simulation/random.js';
export type {
  Scenario,
  SimulatedCall,
  SimulatedClientConfig,
  SimulatedProcess,
  SimulatedWorld,
  SimulationFaults,
  SimulationOptions,
} from './simulation/scenario.js';
export { SimulationFailure, simulate } from './simulation/simulate.js';
export type { SimulationReport } from './simulation/simulate.js';
export { watchCommands } from './unsent/watch-commands.js';
export type { CommandWatch, UnsentCommand } from './unsent/watch-commands.js';
