import type { IncomingMessage } from 'node:http';

/**
 * The body of a request; undefined for one over `most` bytes. That is read to its end all the same, and dropped: a client
 * that still sends would not see the answer.
 */
export async function requestBody(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= most) chunks.push(chunk);
    else chunks.length = 0;
  }
  return length > most ? undefined : Buffer.concat(chunks);
}
