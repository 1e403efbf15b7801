import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PublishAnswer } from '../../../lib/recipes/index.js';

/** An event as it arrives. */
export interface Arrival {
  readonly aggregate: string;
  readonly detail: string;
}

/** What a target does with a batch: takes those that it answers `ok` for. */
export type Taking = (events: readonly Arrival[]) => readonly PublishAnswer[] | undefined;

/** A target over HTTP on 127.0.0.1; where `taking` gives nothing, it never answers. */
export const eventTarget = async (taking: Taking): Promise<{ url: string; close: () => Promise<void> }> => {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      const answers = taking(JSON.parse(body) as Arrival[]);
      if (answers !== undefined) response.end(JSON.stringify(answers));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
