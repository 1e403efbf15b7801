import { randomUUID } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';

interface HttpArgs {
  request: { headers: Record<string, string>; body: Uint8Array };
}

/** What a test does to the requests of a client; each call of it is one attempt of one request. */
export type Meddling = (attempt: {
  readonly operation: string;
  /** The request as it goes over the wire. */
  body: Record<string, unknown>;
  /** Sends it; the answer is the parsed one. */
  send(): Promise<unknown>;
}) => Promise<unknown>;

/** Puts itself between a client and the wire, below its retries. */
export function meddle(client: DynamoDBClient, meddling: Meddling): void {
  client.middlewareStack.add(
    ((next: (args: HttpArgs) => Promise<unknown>) => (args: HttpArgs) => {
      const operation = args.request.headers['x-amz-target']?.split('.')[1] ?? '';
      const attempt = {
        operation,
        body: JSON.parse(new TextDecoder().decode(args.request.body)) as Record<string, unknown>,
        send: () => {
          args.request.body = new TextEncoder().encode(JSON.stringify(attempt.body));
          args.request.headers['content-length'] = String(args.request.body.byteLength);
          return next(args);
        },
      };
      return meddling(attempt);
    }) as never,
    { step: 'deserialize', priority: 'high', name: `meddling-${randomUUID()}` },
  );
}

/** The error of a connection that broke, which the SDK tries again. */
export const connectionLost = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

/** Loses the next answer to a kind of request: it takes effect, and the client does not learn it. */
export function loseAnswer(client: DynamoDBClient, operation: string, error = connectionLost()): void {
  let lost = false;
  meddle(client, async (attempt) => {
    const answer = await attempt.send();
    if (attempt.operation !== operation || lost) return answer;
    lost = true;
    throw error;
  });
}

/** An error as the SDK raises it for a service's answer. */
export const serviceError = (name: string, httpStatusCode = 400): Error =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode }, $fault: 'client' });

/** The cancellation of a transaction, with a code for each of its steps. */
export const cancelled = (...codes: string[]): Error =>
  Object.assign(serviceError('TransactionCanceledException'), {
    CancellationReasons: codes.map((Code) => ({ Code })),
  });
