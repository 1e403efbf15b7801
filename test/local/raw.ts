import type { LocalDynamoDB } from '../../lib/local/index.js';

/** A call as it is on the wire, for what the SDK would not send: the answer, or `{ error, message }`. */
export function rawCall(local: LocalDynamoDB) {
  return async (operation: string, input: object): Promise<Record<string, unknown>> => {
    const { response } = await local.requestHandler.handle({
      headers: { 'x-amz-target': `DynamoDB_20120810.${operation}` },
      body: JSON.stringify(input),
    });
    const body = JSON.parse(Buffer.from(response.body).toString()) as Record<string, unknown>;
    if (response.statusCode === 200) return body;
    const { __type, message, Message } = body as { __type: string; message?: string; Message?: string };
    return { error: __type.replace(/^.*#/, ''), message: message ?? Message };
  };
}
