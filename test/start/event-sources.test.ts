import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { LocalApp } from '../../lib/local/start/local-app.js';
import { startLocalApp } from '../../lib/local/start/local-app.js';
import { synthesizeEventProbeApp } from './event-probe-app.js';

let directory: string;
let app: LocalApp;
const printed: string[] = [];

const start = (contents?: boolean) =>
  startLocalApp({
    port: 0,
    dataDir: undefined,
    contents,
    assembly: () => Promise.resolve(directory),
    print: (line) => printed.push(line),
  });

beforeAll(async () => {
  directory = await synthesizeEventProbeApp();
  app = await start();
});
afterAll(() => app?.close());

const post = (queue: string, body: string) => fetch(`${app.url}/_local/queues/${queue}`, { method: 'POST', body });
const get = async <T>(path: string) => (await (await fetch(`${app.url}/_local/${path}`)).json()) as T;
const bodies = async (queue: string) => (await get<{ body: string }[]>(`queues/${queue}`)).map(({ body }) => body);

describe('an app with event sources', () => {
  it('feeds a function from its queue, which reaches the app’s queue by its address', async () => {
    expect((await post('Work', 'hello')).status).toBe(200);
    await vi.waitFor(async () => expect(await bodies('Seen')).toContain('hello'));
    await vi.waitFor(() => {
      expect(printed).toContain('  probe: Records 1');
      expect(printed).toContainEqual(
        expect.stringMatching(/^queue Work → Probe-Probe: 1 record, \d+ ms \| DynamoDB: no request$/),
      );
      expect(printed).toContain('Message in queue Seen: hello');
    });
    expect(await bodies('Work')).toEqual([]);
  });

  it('keeps what failed, and sends it to the dead letter queue after its receives', async () => {
    await post('Work', 'fail');
    await vi.waitFor(() => expect(printed.join('\n')).toMatch(/queue Work → Probe-Probe: 1 record, 1 failed,/));
    expect(await bodies('Work')).toEqual(['fail']);
    await vi.waitFor(async () => expect(await bodies('Dead')).toEqual(['fail']), { timeout: 15_000, interval: 200 });
    expect(printed).toContain('Message in queue Dead: fail');
  }, 20_000);

  it('feeds a function from the table’s stream, shows the state, and tells the destination what is given up', async () => {
    await post('Work', 'write throw');
    await vi.waitFor(async () => expect(await bodies('GivenUp')).toHaveLength(1), { timeout: 5000 });
    const [record] = await bodies('GivenUp');
    expect(JSON.parse(record!)).toMatchObject({
      requestContext: {
        condition: 'RetryAttemptsExhausted',
        functionArn: expect.stringMatching(/function:Probe-Probe[0-9A-F]{8}$/) as unknown,
      },
      DDBStreamBatchInfo: { batchSize: 1 },
    });
    expect(printed).toContain('State: INSERT item {"pk":"throw","sk":"0","text":"throw"}');
    expect(printed).toContainEqual(expect.stringMatching(/^stream → .*: 1 record, the function failed,/));
    const [items] = Object.values(await get<Record<string, unknown[]>>('items'));
    expect(items).toEqual([{ pk: 'throw', sk: '0', text: 'throw' }]);
    // The server's own requests are not told.
    expect(printed.filter((line) => line.startsWith('DynamoDB:'))).toEqual([]);
  });

  it('feeds several messages of a FIFO group in order, sent by any SDK client', async () => {
    const client = new SQSClient({
      endpoint: app.sqsEndpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    const QueueUrl = `${app.sqsEndpoint}/000000000000/work.fifo`;
    for (const MessageBody of ['f1', 'f2', 'f3']) {
      const MessageDeduplicationId = MessageBody;
      await client.send(new SendMessageCommand({ QueueUrl, MessageBody, MessageGroupId: 'g', MessageDeduplicationId }));
    }
    client.destroy();
    await vi.waitFor(async () => {
      expect((await bodies('Seen')).filter((body) => /^f\d/.test(body))).toEqual(['f1', 'f2', 'f3']);
    });
  });

  it('shows what a function publishes, and gives it to the queues of matching rules', async () => {
    await post('Work', 'publish routed');
    await post('Work', 'publish other');
    await vi.waitFor(async () => {
      const arrived = await get<{ bus: string; event: { 'detail-type': string } }[]>('events');
      expect(arrived.map(({ bus, event }) => `${bus} ${event['detail-type']}`).sort()).toEqual([
        'probes other',
        'probes routed',
      ]);
    });
    expect(printed).toContain('Event on bus probes: routed from probe {"secret":1}');
    const routed = (await bodies('Seen')).filter((body) => body.includes('"detail-type"'));
    expect(routed.map((body) => (JSON.parse(body) as { detail: unknown }).detail)).toEqual([{ secret: 1 }]);
  });

  it.each([
    ['GET', '', 200],
    ['GET', '/queues', 200],
    ['GET', '/queues/Nobody', 404],
    ['POST', '/queues/Nobody', 404],
    ['DELETE', '/queues/Work', 405],
    ['POST', '/queues/work.fifo', 400],
    ['POST', '/queues/Work', 400],
    ['GET', '/what', 404],
  ])('answers %s /_local%s with %i', async (method, path, status) => {
    expect((await fetch(`${app.url}/_local${path}`, { method })).status).toBe(status);
  });

  it('says that a queue is not there', async () => {
    expect(await (await post('Nobody', 'x')).json()).toEqual({
      message: 'There is no queue of this name: GET /_local/queues names them all.',
    });
  });

  it('hides contents where it is told to', async () => {
    await app.close();
    printed.length = 0;
    app = await start(false);
    await post('Work', 'write secret-item');
    await post('Work', 'publish routed');
    await vi.waitFor(() => {
      expect(printed).toContain('State: INSERT item');
      expect(printed).toContain('Event on bus probes: routed from probe');
      expect(printed).toContain('Message in queue Seen');
    });
    expect(printed.join('\n')).not.toContain('secret');
  });
});
