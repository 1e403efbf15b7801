import { randomUUID } from 'node:crypto';

/** How a call of the function ended. A response is what Lambda would get: it has been JSON. */
export type Invocation = { readonly requestId: string } & (
  { readonly response: unknown } | { readonly functionError: string; readonly error: unknown }
);

/** Calls the function; a failure is an answer, and never thrown. */
export type Invoke = (event: object) => Promise<Invocation>;

/** The part of Lambda's context that a handler gets here. */
export interface LocalContext {
  readonly awsRequestId: string;
  readonly functionName: string;
  readonly invokedFunctionArn: string;
  /** Milliseconds until Lambda would end the call. Nothing is ended here. */
  getRemainingTimeInMillis(): number;
}

/** A Lambda handler. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- Handlers type their event and context as they like.
export type LocalHandler = (event: any, context: any) => unknown;

/** The function that a handler in this process stands for. */
export const localFunctionArn = 'arn:aws:lambda:us-east-1:000000000000:function:local';

/** Calls a handler in this process: it gets a copy of the event, as it would from Lambda. */
export const invokeHandler =
  (handler: LocalHandler, timeoutSeconds = 900): Invoke =>
  async (event) => {
    const requestId = randomUUID();
    const deadline = performance.now() + timeoutSeconds * 1000;
    const context: LocalContext = {
      awsRequestId: requestId,
      functionName: 'local',
      invokedFunctionArn: localFunctionArn,
      getRemainingTimeInMillis: () => Math.max(0, deadline - performance.now()),
    };
    try {
      const result: unknown = await handler(JSON.parse(JSON.stringify(event)), context);
      return { requestId, response: JSON.parse(JSON.stringify(result ?? null)) as unknown };
    } catch (error) {
      return { requestId, functionError: 'Unhandled', error };
    }
  };
