/** An HTTP response, ready to be written. */
export interface HttpAnswer {
  readonly status: number;
  /** In the order of writing; a name may repeat. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** An answer of API Gateway's own. */
export function gatewayAnswer(status: number, message: string): HttpAnswer {
  return {
    status,
    headers: [['content-type', 'application/json']],
    body: Buffer.from(JSON.stringify({ message })),
  };
}

/** What API Gateway makes of a function that failed, or answered with what is no response. */
export const internalServerError = gatewayAnswer(500, 'Internal Server Error');

/** Reads a function's result by the rules of payload format 2.0. */
export function handlerResponse(result: unknown): HttpAnswer {
  if (typeof result !== 'object' || result === null || !('statusCode' in result)) {
    const body = typeof result === 'string' ? result : JSON.stringify(result ?? null);
    return { status: 200, headers: [['content-type', 'application/json']], body: Buffer.from(body) };
  }
  const { statusCode, headers, cookies, body, isBase64Encoded } = result as Record<string, unknown>;
  const status = Number(statusCode);
  if (!Number.isInteger(status) || status < 100 || status > 599) return internalServerError;
  if (body !== undefined && body !== null && typeof body !== 'string') return internalServerError;
  const lines: [string, string][] = Object.entries((headers ?? {}) as Record<string, unknown>).map(([name, value]) => [
    name.toLowerCase(),
    String(value),
  ]);
  if (!lines.some(([name]) => name === 'content-type')) lines.push(['content-type', 'text/plain;charset=utf-8']);
  if (Array.isArray(cookies)) lines.push(...cookies.map((cookie): [string, string] => ['set-cookie', String(cookie)]));
  return {
    status,
    headers: lines.filter(([name]) => name !== 'content-length' && name !== 'connection'),
    body: Buffer.from(body ?? '', isBase64Encoded === true ? 'base64' : 'utf8'),
  };
}
