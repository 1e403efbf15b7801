import { Readable } from 'node:stream';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { wire } from './wire.mjs';

/** A bus that takes all entries, behind a wire; `taken` are the ids of the events that arrived. */
export const localBus = () => {
  const taken = new Map();
  let next = 0;
  const line = wire({
    handle({ body }) {
      const { Entries } = JSON.parse(new TextDecoder().decode(body));
      for (const { Detail } of Entries) {
        const { id } = JSON.parse(Detail);
        taken.set(id, (taken.get(id) ?? 0) + 1);
      }
      const answer = JSON.stringify({ FailedEntryCount: 0, Entries: Entries.map(() => ({ EventId: `e${next++}` })) });
      return Promise.resolve({
        response: {
          statusCode: 200,
          headers: { 'content-type': 'application/x-amz-json-1.1' },
          body: Readable.from([Buffer.from(answer)]),
        },
      });
    },
    httpHandlerConfigs: () => ({}),
    updateHttpClientConfig() {},
  });
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const client = new EventBridgeClient({ region: 'eu-west-1', credentials, requestHandler: line.requestHandler });
  return { client, line, taken };
};
