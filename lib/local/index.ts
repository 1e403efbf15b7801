export type { FaultError, FaultName, FaultReason, FaultRequest, Faults, LocalFault } from './faults.js';
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
export { manualClock, runUntilIdle } from './sources/clock.js';
export type { ManualClock, RunUntilIdleOptions } from './sources/clock.js';
export type { EventSource } from './sources/event-source.js';
export type { CallReport } from './sources/mapping/call-report.js';
export type { EventPattern } from './sources/mapping/event-pattern.js';
export type { DiscardCondition, FailureRecord } from './sources/mapping/failure-record.js';
export type { Invocation, LocalContext, LocalHandler } from './sources/mapping/invoke.js';
export { LocalQueueError } from './sources/queues/local-queue.js';
export type {
  LocalMessage,
  LocalMessageAttribute,
  LocalMessageInput,
  LocalQueue,
  LocalQueueOptions,
  ReceivedLocalMessage,
  Redrive,
} from './sources/queues/local-queue.js';
export { createLocalQueues } from './sources/queues/local-queues.js';
export type { LocalQueues, LocalQueuesOptions } from './sources/queues/local-queues.js';
export { sqsSource } from './sources/sqs/sqs-source.js';
export type { SqsSourceOptions } from './sources/sqs/sqs-source.js';
export { streamSource } from './sources/streams/stream-source.js';
export type { StreamSourceOptions, StreamFailureRecord } from './sources/streams/stream-source.js';
export { createLocalEventBridge } from './sources/bus/local-event-bridge.js';
export type { ArrivedEvent, LocalEventBridge, LocalEventBridgeOptions } from './sources/bus/local-event-bridge.js';
export type { LocalBusEvent } from './sources/bus/put-events.js';
export { scheduleSource } from './sources/schedules/schedule-source.js';
export type { ScheduleSourceOptions } from './sources/schedules/schedule-source.js';
