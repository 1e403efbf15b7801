import { toTimestamp, type Timestamp } from '../../lib/commands/index.js';
import { PoisonRecordError, type KafkaMessage, type SqsMessage } from '../../lib/events/index.js';

/** What producers send, as JSON. In Kafka the key is the match, and a record without value removes it. */
export type LiveMessage = SqsMessage<unknown> | KafkaMessage<unknown>;

const refuse = (what: string): never => {
  throw new PoisonRecordError('content', what);
};

type Members = Readonly<Record<string, unknown>>;

const membersOf = (body: unknown): Members =>
  typeof body === 'object' && body !== null ? (body as Members) : refuse('it is no object');

const goals = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : refuse('its goals are no whole number');

const word = (value: unknown, what: string): string =>
  typeof value === 'string' && value !== '' && value.length <= 128 ? value : refuse(`${what} is no text of 1 to 128`);

/** Since the state of a match without tombstone goes by `matchId`, a key must be the same. */
const matchOf = (message: LiveMessage, body: Members): string => {
  const id = word(body['matchId'], 'its matchId');
  return message.source === 'kafka' && message.key !== undefined && message.key !== id
    ? refuse('its key is not its matchId')
    : id;
};

/**
 * What a message means: `{ type: 'score', matchId, home, away, at }`, `{ type: 'status', matchId, status, at }` or, in SQS,
 * which has no tombstones, `{ type: 'removed', matchId, at }`.
 */
export const liveEvent = (message: LiveMessage) => {
  if (message.source === 'kafka' && message.body === undefined) {
    return { key: { id: word(message.key, 'its key') }, deleted: true } as const;
  }
  const body = membersOf(message.body);
  const key = { id: matchOf(message, body) };
  switch (body['type']) {
    case 'score':
      return { key, groups: { score: { homeGoals: goals(body['home']), awayGoals: goals(body['away']) } } };
    case 'status':
      return { key, groups: { status: { status: word(body['status'], 'its status') } } };
    case 'removed':
      return { key, deleted: true } as const;
    default:
      return refuse('its type is none of score, status and removed');
  }
};

/** When it happened: the header `occurred-at`, which a tombstone can have too, else the member `at`. */
export const occurredAt = (message: LiveMessage): Timestamp =>
  toTimestamp((message.header('occurred-at') ?? (message.body as Members | undefined)?.['at']) as string);
