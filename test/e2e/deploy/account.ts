import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SQSClient } from '@aws-sdk/client-sqs';
import { HttpRequest, type HttpResponse } from '@smithy/core/protocols';
import type { RequestSigner } from '@smithy/types';
import { install, run } from '../ministack/install.js';
import { serve } from '../ministack/serve.js';

export const REGION = 'us-east-1';
export const ACCOUNT = '000000000000';

/** MiniStack's root user. What it may do is not limited, what functions may do is. */
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };

/** A call of an endpoint or of an API that the tests have no client for. */
export interface Call {
  readonly service: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** @default true */
  readonly signed?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An AWS account that MiniStack serves by TLS, where each role may do what its policies say. */
export type Account = Awaited<ReturnType<typeof openAccount>>;

/** Why no account can be served here, undefined where it can. Installs what it needs, once. */
export async function whyNoAccount(): Promise<string | undefined> {
  const missing = await install();
  if (missing !== undefined) return missing;
  return (await run('openssl', ['version'])) ? undefined : 'there is no openssl to make its certificate';
}

export async function openAccount() {
  // With AUTH, policies are evaluated, also those of queues that refuse calls without TLS.
  const { endpoint, home, log, stop } = await serve({ AUTH: 'true', USE_SSL: '1', MINISTACK_HOST: '127.0.0.1' });
  const certificate = join(home, 'ministack-tls', 'server.crt');
  const common = {
    endpoint,
    region: REGION,
    credentials,
    requestHandler: { httpsAgent: { ca: await readFile(certificate) }, requestTimeout: 60_000 },
  };
  const dynamodb = new DynamoDBClient(common);
  const { hostname, port } = new URL(endpoint);

  // A client keeps the service that it has first signed for.
  const signers = new Map<string, Promise<RequestSigner>>();
  const signerOf = (service: string): Promise<RequestSigner> => {
    const scheme = { name: 'sigv4', signingName: service, signingRegion: REGION, properties: {} };
    const signer = signers.get(service) ?? new DynamoDBClient(common).config.signer(scheme);
    signers.set(service, signer);
    return signer;
  };

  const call = async ({ service, method = 'POST', path = '/', headers = {}, body, signed = true }: Call) => {
    const request = new HttpRequest({
      method,
      protocol: 'https:',
      hostname,
      port: Number(port),
      path,
      headers: { host: `${hostname}:${port}`, ...headers },
      body,
    });
    const signer = await signerOf(service);
    const sent = signed ? new HttpRequest(await signer.sign(request)) : request;
    const { response } = (await dynamodb.config.requestHandler.handle(sent)) as { response: HttpResponse };
    const answer: Answer = {
      status: response.statusCode,
      headers: response.headers,
      body: await text(response.body as AsyncIterable<Buffer>),
    };
    return answer;
  };

  /** A call of an API that speaks JSON and has no client here. */
  const json = async (service: string, target: string, input: object): Promise<unknown> => {
    const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target };
    const { status, body } = await call({ service, headers, body: JSON.stringify(input) });
    if (status !== 200) throw new Error(`${target}: ${status} ${body}`);
    return JSON.parse(body);
  };

  const logGroups = async () => {
    const found = await json('logs', 'Logs_20140328.DescribeLogGroups', {});
    return (found as { logGroups: { logGroupName: string; retentionInDays?: number }[] }).logGroups;
  };

  /** What functions have logged since then to the groups whose names contain this. */
  const logged = async (part = '', startTime = 0): Promise<string[]> => {
    const groups = (await logGroups()).filter(({ logGroupName }) => logGroupName.includes(part));
    const events = await Promise.all(
      groups.map(({ logGroupName }) => json('logs', 'Logs_20140328.FilterLogEvents', { logGroupName, startTime })),
    );
    return events.flatMap((found) => (found as { events: { message: string }[] }).events.map(({ message }) => message));
  };

  return {
    endpoint,
    home,
    log,
    certificate,
    dynamodb,
    sqs: new SQSClient(common),
    eventBridge: new EventBridgeClient(common),
    call,
    logGroups,
    logged,
    close: stop,
  };
}
