export type { FaultError, FaultName, FaultRequest, Faults, LocalFault } from './faults.js';
export type { LocalKafkaEvent, LocalKafkaRecord } from './kafka/kafka-event.js';
export type { KafkaFailureRecord, KafkaRecordsInfo } from './kafka/kafka-failure-record.js';
export { kafkaSource } from './kafka/kafka-source.js';
export type { KafkaSourceOptions } from './kafka/kafka-source-options.js';
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
