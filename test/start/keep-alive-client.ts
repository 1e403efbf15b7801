import { Agent, request } from 'node:http';

/** How a client ended that called until it could connect no more. */
export interface ClientEnd {
  readonly statuses: number[];
  /** The `Connection` header of its last answer. */
  readonly lastConnection: string | undefined;
  /** The code of the error that ended it. */
  readonly refusal: string | undefined;
}

/** A client that keeps its one connection open as long as the server does, and calls again and again. */
export function keepAliveClient(url: string, headers: () => Record<string, string> = () => ({})) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const call = (body: string) =>
    new Promise<{ status: number; connection: string | undefined }>((resolve, reject) => {
      const sent = request(url, { agent, method: 'POST' }, (response) => {
        response.on('error', reject);
        response.on('end', () => {
          resolve({ status: response.statusCode!, connection: response.headers.connection });
        });
        response.resume();
      });
      sent.on('error', reject);
      for (const [name, value] of Object.entries({ 'content-type': 'application/json', ...headers() })) {
        sent.setHeader(name, value);
      }
      sent.end(body);
    });
  return {
    async callUntilRefused(body: string): Promise<ClientEnd> {
      const statuses: number[] = [];
      let lastConnection: string | undefined;
      for (;;) {
        try {
          const { status, connection } = await call(body);
          statuses.push(status);
          lastConnection = connection;
        } catch (error) {
          agent.destroy();
          return { statuses, lastConnection, refusal: (error as NodeJS.ErrnoException).code };
        }
      }
    },
  };
}
