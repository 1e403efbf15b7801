import type { AnyEntity } from '../../commands/index.js';
import { invalid } from '../../commands/errors/errors.js';
import { modelOf } from '../../commands/entity/entity.js';
import { checkFunction, checkObject, checkTable } from '../../recipes/arguments.js';
import { orderedGroups, type FieldGroups, type GroupsDeletion, type OrderedState } from '../../recipes/index.js';
import { checkSource } from '../decoders/decoder.js';
import { answerOf } from '../handler/answer.js';
import { writeLine } from '../handler/batch-line.js';
import { settledOptions, type BatchHandler } from '../handler/options.js';
import { readBatch } from '../sources/read-batch.js';
import { Ingest } from './ingest.js';
import { ingestLine } from './ingest-line.js';
import type { OrderedIngestOptions } from './options.js';
import { refusalOf } from './refusal.js';
import type { StateEvent } from './state-event.js';

/**
 * A Lambda handler that brings items to the newest version of each group of fields, from events of SQS and Kafka that come
 * late, twice and out of order (seeds/000, Events that arrive out of order; `orderedGroups` says what holds).
 *
 * An event replaces its whole group, so of one batch only the newest of each key and group is written, and the others are
 * settled by that write's outcome. Nothing is acknowledged before it is known: a write that fails fails the events that
 * it stood for too, in a FIFO queue each group from the first of them on. One that is refused for its content gives way to
 * the next newest, and goes to the failure destination. An event of several groups is written as one of each.
 *
 * Keys are worked on at once, up to `concurrency`; memory is bounded by the batch, 6 MB. Outcomes are metrics, and those of
 * a batch one line: Applied, AlreadyStored, Superseded and Conflict (another event of the same version is stored).
 *
 * Cost of a batch: one request for each distinct pair of key and group, and no read; a write unit per KB of the larger of
 * the old and the new item, also where it was Superseded. A deletion in the batch settles older events of its key without
 * a request, and takes one more where it finds newer groups stored.
 *
 * @throws InvalidInputError where an attribute can't have its part, and for options out of their bounds
 * @returns a handler that throws BatchFailedError where failures can't be told apart, and InvalidInputError for an event of
 *   a source without decoder; both make the whole batch come again
 * @example
 * interface ScoreChanged { readonly home: number; readonly away: number }
 *
 * export const handler = orderedIngest({
 *   table: shop,
 *   entity: LiveMatch,
 *   groups: { score: { version: 'scoreAt', fields: ['homeGoals', 'awayGoals'] } },
 *   decode: { kafka: kafkaMessages({ value: json<ScoreChanged>() }) },
 *   versionOf: ({ header }) => toTimestamp(header('occurred-at') ?? ''),
 *   eventOf: ({ key: id = '', body }) =>
 *     body && { key: { id }, groups: { score: { homeGoals: body.home, awayGoals: body.away } } },
 * });
 */
export const orderedIngest = <
  E extends AnyEntity,
  const G extends FieldGroups<E>,
  Q = never,
  K = never,
  S = never,
  const D extends GroupsDeletion<E> | undefined = undefined,
>(
  options: OrderedIngestOptions<E, G, Q, K, S, D>,
): BatchHandler => {
  const { table, entity, groups, deletion, decode, log = writeLine, metrics = {} } = checkObject(options, 'options');
  const settled = settledOptions(options);
  checkTable(table);
  checkFunction(log, 'log');
  checkObject(groups, 'groups');
  for (const name of ['eventOf', 'versionOf'] as const) {
    if (typeof options[name] !== 'function') invalid(name, 'expected a function');
  }
  if (typeof decode !== 'object' || decode === null) invalid('decode', 'expected decoders by source');
  const state: unknown = orderedGroups<E, G, D>(table.of(entity), { groups, ...(deletion && { deletion }) } as never);
  const { name } = modelOf(entity);
  // By function, which alone a dashboard of the deployed stack knows, and which tells two stages apart.
  const dimensions = { function: process.env['AWS_LAMBDA_FUNCTION_NAME'] ?? 'ingest' };
  const target = { entity: name, namespace: 'SafeWrites', dimensions, ...metrics };
  const versions = new Set(Object.values(groups).map(({ version }) => version as string));
  if (deletion !== undefined) versions.add(deletion.version);
  const rules = {
    ...settled,
    decode,
    state: state as OrderedState<StateEvent, unknown>,
    keyOf: (key: object) => JSON.stringify(Object.values(modelOf(entity).key(key as Record<string, unknown>))),
    reading: {
      groups,
      eventOf: (message: unknown) => options.eventOf(message as never),
      versionOf: (message: unknown): unknown => options.versionOf(message as never),
    },
    refusalOf: (error: unknown) => refusalOf(error, versions),
    onOutcome: options.onOutcome as Ingest['rules']['onOutcome'],
  };

  // Two parameters: Lambda takes a third for a callback, and refuses the handler.
  return async (event, context) => {
    const started = performance.now();
    const batch = readBatch(event);
    if (batch.deliveries.length > 0) checkSource(batch.source, decode);
    const ingest = new Ingest(batch, rules, context);
    await ingest.run();
    log(ingestLine(batch, ingest.progress, started, ingest.outcomes, ingest.writes, target));
    return answerOf(batch, ingest.progress, settled.partial);
  };
};
