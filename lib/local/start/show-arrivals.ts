import type { LocalDynamoDB } from '../local-dynamodb.js';
import type { LocalEventBridge } from '../sources/bus/local-event-bridge.js';
import type { EventSource } from '../sources/event-source.js';
import type { LocalQueues } from '../sources/queues/local-queues.js';
import { streamMapping } from '../sources/streams/stream-source.js';
import type { LambdaStreamRecord } from '../sources/streams/stream-record.js';
import { plainItem, shortJson } from './short-json.js';
import type { AppTable, SynthesizedApp } from './synthesized-app.js';

/** What is shown of state, queues and buses. */
export interface Shown {
  readonly dynamodb: LocalDynamoDB;
  readonly queues: LocalQueues;
  readonly bridge: LocalEventBridge;
  /** Whether contents are shown, or only what kind of thing arrived. */
  readonly contents: boolean;
  readonly print: (line: string) => void;
}

/** Prints each event that a bus takes, and each message that arrives in a queue without reader, such as dead letters. */
export function showArrivals(app: SynthesizedApp, { queues, bridge, contents, print }: Shown): void {
  bridge.onEvent(({ bus, event }) =>
    print(
      `Event on bus ${bus}: ${event['detail-type']} from ${event.source}${contents ? ` ${shortJson(event.detail)}` : ''}`,
    ),
  );
  const read = new Set(app.mappings.map(({ sourceArn }) => sourceArn));
  for (const queue of queues.list()) {
    if (read.has(queue.arn)) continue;
    let seen = new Set<string>();
    queue.onMessage(() => {
      const messages = queue.messages();
      for (const { messageId, body } of messages) {
        if (!seen.has(messageId)) print(`Message in queue ${queue.name}${contents ? `: ${shortJson(body)}` : ''}`);
      }
      seen = new Set(messages.map(({ messageId }) => messageId));
    });
  }
}

/** Prints each change of an item, for the tables that have a stream. The kit's own records are named only. */
export async function showState(
  tables: readonly AppTable[],
  { dynamodb, contents, print }: Shown,
): Promise<EventSource[]> {
  const sources: EventSource[] = [];
  for (const { name, streamViewType } of tables) {
    if (streamViewType === undefined) continue;
    sources.push(
      await streamMapping({
        dynamodb,
        tableName: name,
        startingPosition: 'LATEST',
        invoke: (event) => {
          for (const record of (event as { Records: LambdaStreamRecord[] }).Records) print(stateLine(record, contents));
          return Promise.resolve({ requestId: '', response: null });
        },
      }),
    );
  }
  return sources;
}

/** Records that the kit keeps for itself: nobody looks for their contents. */
const kitTypes = new Set(['IDEMPOTENCY', 'OUTBOX', 'INBOX']);

function stateLine({ eventName, dynamodb }: LambdaStreamRecord, contents: boolean): string {
  const { NewImage, OldImage } = dynamodb as { NewImage?: object; OldImage?: object };
  const { _type: type, ...item } = plainItem(NewImage ?? OldImage ?? dynamodb.Keys);
  const kind = typeof type === 'string' ? type : 'item';
  const shown = contents && !kitTypes.has(kind) && NewImage !== undefined;
  return `State: ${eventName} ${kind}${shown ? ` ${shortJson(item)}` : ''}`;
}
