import { randomUUID } from 'node:crypto';
import { kafkaMapping } from '../kafka/kafka-source.js';
import type { LocalDynamoDB } from '../local-dynamodb.js';
import type { LocalEventBridge } from '../sources/bus/local-event-bridge.js';
import type { EventSource } from '../sources/event-source.js';
import type { Invoke } from '../sources/mapping/invoke.js';
import type { LocalQueues } from '../sources/queues/local-queues.js';
import { schedule } from '../sources/schedules/schedule-source.js';
import { sqsMapping } from '../sources/sqs/sqs-source.js';
import { streamMapping } from '../sources/streams/stream-source.js';
import { callFunction } from './call-function.js';
import type { Functions } from './call-function.js';
import { requestTotals } from './call-line.js';
import { StartError } from './start-error.js';
import type { AppMapping, AppRule, SynthesizedApp } from './synthesized-app.js';

/** What the app's event sources work on. */
export interface SourceSurroundings {
  readonly dynamodb: LocalDynamoDB;
  readonly queues: LocalQueues;
  readonly bridge: LocalEventBridge;
  readonly calls: Functions;
  readonly kafka: KafkaSettings;
  readonly print: (line: string) => void;
}

/** The broker of the environment. */
export interface KafkaSettings {
  /** From KAFKA_BROKERS. */
  readonly brokers: readonly string[];
  /** From KAFKA_TOPIC: is read by the function that reads the app's queues, where the app has no Kafka mapping. */
  readonly topic: string | undefined;
}

/** What feeds the app's functions: its mappings and its schedules. Rules by pattern are set up on the buses. */
export async function eventSources(app: SynthesizedApp, surroundings: SourceSurroundings): Promise<EventSource[]> {
  const { queues, dynamodb, kafka } = surroundings;
  const sources: EventSource[] = [];
  for (const mapping of app.mappings) {
    const from = sourceName(mapping);
    const invoke = invoking(surroundings, mapping.function, from);
    const common = {
      invoke,
      batchSize: mapping.numbers['BatchSize'],
      maximumBatchingWindowInSeconds: mapping.numbers['MaximumBatchingWindowInSeconds'],
      reportBatchItemFailures: mapping.reportBatchItemFailures,
      filters: mapping.filters,
    };
    const ordered = {
      ...common,
      startingPosition: mapping.startingPosition,
      bisectBatchOnFunctionError: mapping.bisectBatchOnFunctionError,
      maximumRetryAttempts: mapping.numbers['MaximumRetryAttempts'],
      maximumRecordAgeInSeconds: mapping.numbers['MaximumRecordAgeInSeconds'],
      onFailure: destination(queues, mapping.onFailureArn),
    };
    const [, , service, , , resource = ''] = (mapping.sourceArn ?? '').split(':');
    if (service === 'sqs') {
      const queue = queues.queue(resource);
      if (queue === undefined) throw new StartError(`The queue of ${mapping.function} is in no stack of the app.`);
      sources.push(sqsMapping({ ...common, queue, maximumConcurrency: mapping.numbers['MaximumConcurrency'] }));
    } else if (service === 'dynamodb') {
      sources.push(
        await streamMapping({
          ...ordered,
          dynamodb,
          tableName: resource.split('/')[1]!,
          functionArn: functionArn(mapping.function),
          parallelizationFactor: mapping.numbers['ParallelizationFactor'],
        }),
      );
    } else if (mapping.topic === undefined) {
      throw new StartError(
        `The mapping of ${mapping.function} reads ${service ?? 'a source'}, which does not run here.`,
      );
    } else if (kafka.brokers.length > 0) {
      const { filters: _none, onFailure, ...settings } = ordered;
      sources.push(
        await kafkaMapping({
          ...settings,
          brokers: kafka.brokers,
          topic: mapping.topic,
          consumerGroupId: mapping.consumerGroupId ?? `local-${mapping.function}`,
          eventSourceArn: mapping.sourceArn,
          onFailure: mapping.onFailureArn?.startsWith('kafka://')
            ? (mapping.onFailureArn as `kafka://${string}`)
            : onFailure,
        }),
      );
    } else surroundings.print(`The topic ${mapping.topic} is not read: set KAFKA_BROKERS to a broker’s address.`);
  }

  const reader = app.mappings.find(({ sourceArn }) => sourceArn?.includes(':sqs:'));
  if (kafka.topic !== undefined && reader !== undefined && !app.mappings.some(({ topic }) => topic !== undefined)) {
    sources.push(
      await kafkaMapping({
        brokers: kafka.brokers,
        topic: kafka.topic,
        consumerGroupId: `local-${reader.function}`,
        reportBatchItemFailures: reader.reportBatchItemFailures,
        invoke: invoking(surroundings, reader.function, `topic ${kafka.topic}`),
      }),
    );
  }
  for (const rule of app.rules) sources.push(...ruleSources(rule, surroundings));
  return sources;
}

function ruleSources(rule: AppRule, surroundings: SourceSurroundings): EventSource[] {
  const { queues, bridge } = surroundings;
  const sources: EventSource[] = [];
  for (const { arn, input, groupId } of rule.targets) {
    const [, , service, , , resource = ''] = arn.split(':');
    const functionName = service === 'lambda' ? arn.split(':').at(-1)! : undefined;
    const queue = service === 'sqs' ? queues.queue(resource) : undefined;
    if (functionName === undefined && queue === undefined) {
      surroundings.print(`A target of the rule ${rule.arn.split('/').at(-1)} does not run here: ${service}.`);
      continue;
    }
    const invoke: Invoke =
      functionName === undefined
        ? (event) => {
            queue!.send({
              body: JSON.stringify(event),
              groupId,
              deduplicationId: queue!.fifo ? randomUUID() : undefined,
            });
            return Promise.resolve({ requestId: '', response: null });
          }
        : invoking(surroundings, functionName, rule.scheduleExpression === undefined ? `bus ${rule.bus}` : 'schedule');
    if (rule.scheduleExpression !== undefined) {
      sources.push(schedule({ expression: rule.scheduleExpression, invoke, input, ruleArn: rule.arn }));
    }
    if (rule.pattern !== undefined) {
      bridge.rule({
        bus: rule.bus,
        pattern: rule.pattern,
        target: (event) => void invoke(input ?? event).catch((error: unknown) => process.emitWarning(error as Error)),
      });
    }
  }
  return sources;
}

/** Calls a function of the app, and prints a line about it. */
function invoking({ calls, print }: SourceSurroundings, functionName: string, from: string): Invoke {
  return async (event) => {
    const started = performance.now();
    const { call, requests } = await callFunction(calls, functionName, event);
    const records = recordCount(event);
    const failed = 'failure' in call ? records : failures(call.result);
    print(
      [
        `${from} → ${functionName.replace(/[0-9A-F]{8}$/, '')}:`,
        `${records} ${records === 1 ? 'record' : 'records'},`,
        ...('failure' in call ? [`the function ${call.failure},`] : failed > 0 ? [`${failed} failed,`] : []),
        `${Math.round(performance.now() - started)} ms | DynamoDB: ${requestTotals(requests)}`,
      ].join(' '),
    );
    const requestId = randomUUID();
    return 'failure' in call
      ? { requestId, functionError: 'Unhandled', error: new Error(`the function ${call.failure}`) }
      : { requestId, response: call.result };
  };
}

function recordCount(event: object): number {
  const { Records, records } = event as { Records?: readonly unknown[]; records?: Record<string, readonly unknown[]> };
  return Records?.length ?? (records === undefined ? 1 : Object.values(records).flat().length);
}

function failures(result: unknown): number {
  const list = (result as { batchItemFailures?: unknown } | null)?.batchItemFailures;
  return Array.isArray(list) ? list.length : 0;
}

function destination(queues: LocalQueues, arn: string | undefined): ((record: object) => void) | undefined {
  const queue = arn?.split(':')[2] === 'sqs' ? queues.queue(arn.split(':').at(-1)!) : undefined;
  return queue === undefined ? undefined : (record) => void queue.send({ body: JSON.stringify(record) });
}

function sourceName({ sourceArn, topic }: AppMapping): string {
  if (topic !== undefined) return `topic ${topic}`;
  return sourceArn?.includes(':sqs:') ? `queue ${sourceArn.split(':').at(-1)}` : 'stream';
}

const functionArn = (name: string): string => `arn:aws:lambda:us-east-1:000000000000:function:${name}`;
