import { Readable } from 'node:stream';

/** Answers every request at once with an empty object: what is left is the client's own work. */
export const requestHandler = {
  handle: () =>
    Promise.resolve({
      response: {
        statusCode: 200,
        headers: { 'content-type': 'application/x-amz-json-1.0' },
        body: Readable.from([Buffer.from('{}')]),
      },
    }),
  httpHandlerConfigs: () => ({}),
  updateHttpClientConfig() {},
};

export const config = { region: 'eu-west-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' }, requestHandler };
