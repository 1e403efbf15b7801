/** What the server tells a function's process. */
export interface InvokeMessage {
  readonly id: string;
  readonly event: unknown;
  readonly traceId: string;
  /** When Lambda would stop the call, in epoch milliseconds. */
  readonly deadline: number;
}

/** What a function's process tells the server. */
export type FunctionMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'broken'; readonly reason: string }
  | { readonly type: 'result'; readonly id: string; readonly result: string }
  | { readonly type: 'failed'; readonly id: string };
