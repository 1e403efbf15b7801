import { randomBytes } from 'node:crypto';
import type { DynamoDBRequest, DynamoDBRequests } from './dynamodb-requests.js';
import type { CallResult, FunctionProcess } from './function-process.js';

/** What calls the app's functions. */
export interface Functions {
  readonly functions: ReadonlyMap<string, FunctionProcess>;
  readonly requests: DynamoDBRequests;
}

/** A trace id as X-Ray makes it. */
export const newTraceId = (): string =>
  `Root=1-${Math.floor(Date.now() / 1000).toString(16)}-${randomBytes(12).toString('hex')}`;

/** Calls a function, and collects what it asked of DynamoDB. */
export async function callFunction(
  { functions, requests }: Functions,
  name: string,
  event: unknown,
  traceId = newTraceId(),
): Promise<{ call: CallResult; requests: readonly DynamoDBRequest[] }> {
  const collected = requests.begin(traceId);
  const call = await functions.get(name)!.invoke(event, traceId);
  return { call, requests: collected.end() };
}
