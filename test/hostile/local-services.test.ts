import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createLocalEventBridge,
  createLocalQueues,
  type LocalEventBridge,
  type LocalQueues,
} from '../../lib/local/index.js';
import { eventPattern } from '../../lib/local/sources/mapping/event-pattern.js';
import { scheduleExpression } from '../../lib/local/sources/schedules/schedule-expression.js';
import { resolveText } from '../../lib/local/start/cloudformation.js';
import { answerLocal } from '../../lib/local/start/local-requests.js';
import { matchRoute } from '../../lib/local/start/match-route.js';
import { startOptions } from '../../lib/local/start/options.js';
import { StartError } from '../../lib/local/start/start-error.js';
import { readSynthesizedApp } from '../../lib/local/start/synthesized-app.js';
import { texts } from './corpus.js';
import { hostileJson, hostileText, mutated } from './hostile-values.js';
import { rawHttp } from './raw-http.js';
import { expectNoUnhandledRejections } from './unhandled-rejections.js';

let queues: LocalQueues;
let bridge: LocalEventBridge;
let sqs: number;
let events: number;
expectNoUnhandledRejections();
beforeAll(async () => {
  queues = createLocalQueues();
  bridge = createLocalEventBridge();
  queues.create('orders');
  queues.create('scores.fifo');
  [{ port: sqs }, { port: events }] = await Promise.all([queues.listen(), bridge.listen()]);
});
afterAll(() => Promise.all([queues.close(), bridge.close()]));

const http = (port: number, headers: Record<string, string>, body: string, at = '/') =>
  rawHttp(port, 'POST', at, headers, body);

describe('the local buses', () => {
  const good = {
    Entries: [
      {
        ...{ Source: 'shop', DetailType: 'paid', Detail: '{"id":"a"}', EventBusName: 'default', Time: 1_796_000_000 },
        Resources: ['arn:aws:events:x'],
      },
      { Source: 'shop', DetailType: 'paid', Detail: '{"id":"b"}' },
    ],
  };
  const headers = { 'x-amz-target': 'AWSEvents.PutEvents' };
  const expectTypedAnswer = ({ status, body }: { status: number; body: string }): void => {
    const answer = JSON.parse(body) as Record<string, unknown>;
    if (status === 200) return;
    expect(status).toBeLessThan(500);
    expect(answer).toMatchObject({ __type: expect.any(String) as string, message: expect.any(String) as string });
  };

  it('answer a request that is made worse, and go on', async () => {
    await fc.assert(
      fc.asyncProperty(mutated(good), async (input) =>
        expectTypedAnswer(await http(events, headers, JSON.stringify(input) ?? '')),
      ),
      { numRuns: 300 },
    );
    expect((await http(events, headers, JSON.stringify(good))).status).toBe(200);
  });

  it('answer what is no PutEvents', async () => {
    expectTypedAnswer(await http(events, {}, '{}'));
    expectTypedAnswer(await http(events, headers, '{'));
    expectTypedAnswer(await http(events, headers, 'null'));
    expectTypedAnswer(await http(events, headers, `{"Entries":"${'x'.repeat(9_000_000)}"}`));
    expectTypedAnswer(await http(events, { 'x-amz-target': 'AWSEvents.constructor' }, '{}'));
  });

  it('answer where a target throws, and go on', async () => {
    const own = createLocalEventBridge();
    own.rule({
      pattern: { source: ['shop'] },
      target: () => {
        throw new Error('no room');
      },
    });
    const { port } = await own.listen();
    const answer = await http(port, headers, JSON.stringify(good));
    expect(answer.status).toBe(500);
    expect(answer.body).toContain('no room');
    expect((await http(port, headers, '{')).status).toBe(400);
    await own.close();
  });
});

describe('the local queues', () => {
  const url = 'http://127.0.0.1/000000000000/orders';
  const goods: Record<string, Record<string, unknown>> = {
    SendMessage: {
      QueueUrl: url,
      MessageBody: 'x',
      DelaySeconds: 1,
      MessageAttributes: { a: { DataType: 'String', StringValue: 'v' } },
    },
    SendMessageBatch: { QueueUrl: url, Entries: [{ Id: 'a', MessageBody: 'x' }] },
    ReceiveMessage: { QueueUrl: url, MaxNumberOfMessages: 3, WaitTimeSeconds: 0, VisibilityTimeout: 1 },
    DeleteMessage: { QueueUrl: url, ReceiptHandle: 'x' },
    ChangeMessageVisibility: { QueueUrl: url, ReceiptHandle: 'x', VisibilityTimeout: 3 },
    GetQueueAttributes: { QueueUrl: url, AttributeNames: ['All'] },
    SetQueueAttributes: {
      QueueUrl: url,
      Attributes: { VisibilityTimeout: '30', RedrivePolicy: '{"deadLetterTargetArn":"x","maxReceiveCount":"3"}' },
    },
    CreateQueue: { QueueName: 'other', Attributes: { DelaySeconds: '1' } },
    GetQueueUrl: { QueueName: 'orders' },
    ListQueues: { QueueNamePrefix: 'o', MaxResults: 5 },
  };
  const waits = (place: string): boolean => place === 'WaitTimeSeconds';

  it.each(Object.keys(goods))('answer a %s that is made worse, and go on', async (operation) => {
    const headers = { 'x-amz-target': `AmazonSQS.${operation}`, 'content-type': 'application/x-amz-json-1.0' };
    await fc.assert(
      fc.asyncProperty(mutated(goods[operation], waits), async (input) => {
        const { status } = await http(sqs, headers, JSON.stringify(input) ?? '');
        expect(status).toBeGreaterThanOrEqual(200);
      }),
      { numRuns: 60 },
    );
    expect((await http(sqs, { ...headers, 'x-amz-target': 'AmazonSQS.ListQueues' }, JSON.stringify({}))).status).toBe(
      200,
    );
  });

  it('answer what is no request of SQS', async () => {
    for (const body of ['{', '[]', 'null', 'Action=constructor', 'x'.repeat(3_000_000)]) {
      for (const headers of [{}, { 'x-amz-target': 'AmazonSQS.constructor' }, { 'content-type': 'text/xml' }]) {
        expect((await http(sqs, headers, body, '/../../etc/passwd')).status).toBeLessThan(500);
      }
    }
  });
});

describe("the app's own server", () => {
  const view = () => ({ dynamodb: undefined as never, tables: [], queues, bridge });

  it('answers any path and body of /_local', async () => {
    const part = fc.oneof(
      hostileText,
      fc.constantFrom(...texts, 'queues', 'orders', 'scores.fifo', 'events', '..', '%2e%2e%2f', '%', 'constructor'),
    );
    const paths = fc.array(part, { maxLength: 3 }).map((parts) => ['/_local', ...parts].join('/'));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST', 'PUT'),
        paths.filter((at) => !at.startsWith('/_local/items')),
        fc.oneof(hostileText, fc.constantFrom('group=g', 'group=&deduplicationId=', 'x'.repeat(2_000_000))),
        hostileText,
        async (method, at, query, body) => {
          const { status } = await answerLocal(view(), method, at, query, body);
          expect([200, 400, 404, 405]).toContain(status);
        },
      ),
      { numRuns: 300 },
    );
    const large = await answerLocal(view(), 'POST', '/_local/queues/orders', '', 'x'.repeat(2_000_000));
    expect(large.status).toBe(400);
    expect(large.body.toString()).toContain('1 MiB');
  });

  it('finds routes by path and method, and values that are text, whatever was sent', () => {
    const routes = ['GET /a/{id}', 'ANY /b/{rest+}', 'POST /__proto__/{constructor}'].map((routeKey) => ({
      routeKey,
      function: 'f',
      iam: false,
    }));
    fc.assert(
      fc.property(fc.constantFrom('GET', 'POST', 'constructor'), hostileText, hostileText, (method, one, other) => {
        for (const at of [one, `/a/${one}`, `/b/${one}/${other}`, `/__proto__/${one}`]) {
          const found = matchRoute(routes, method, at);
          for (const value of Object.values(found?.pathParameters ?? {})) expect(typeof value).toBe('string');
        }
      }),
    );
  });

  it('refuses bad flags and variables by what to do instead', () => {
    for (const args of [
      ['--data-dir'],
      ['--data-dir='],
      ['--port', '1'],
      ['x'],
      ['--__proto__'],
      ['--help=1'],
      ['-x'],
    ]) {
      expect(() => startOptions(args, {}), args.join(' ')).toThrow(StartError);
      expect(() => startOptions(args, {})).toThrow(/npm start/);
    }
    fc.assert(
      fc.property(fc.constantFrom('PORT', 'KAFKA_BROKERS', 'KAFKA_TOPIC'), hostileText, (name, value) => {
        try {
          startOptions([], { [name]: value });
        } catch (error) {
          expect(error).toBeInstanceOf(StartError);
          expect((error as Error).message).toContain('npm start');
        }
      }),
    );
  });
});

describe('what a template says', () => {
  const fn = { 'Fn::GetAtt': ['Fn', 'Arn'] };
  const resources = {
    Fn: {
      Type: 'AWS::Lambda::Function',
      Properties: {
        ...{ Runtime: 'nodejs24.x', Handler: 'index.handler', Code: { S3Key: 'a.zip' }, Timeout: 3 },
        Environment: { Variables: { TABLE: { Ref: 'Table' }, QUEUE: { 'Fn::Join': ['', ['x', { Ref: 'Queue' }]] } } },
      },
    },
    Table: {
      Type: 'AWS::DynamoDB::GlobalTable',
      Properties: {
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      },
    },
    Queue: {
      Type: 'AWS::SQS::Queue',
      Properties: { RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['Queue', 'Arn'] }, maxReceiveCount: 3 } },
    },
    Integration: { Type: 'AWS::ApiGatewayV2::Integration', Properties: { IntegrationUri: fn } },
    Route: {
      Type: 'AWS::ApiGatewayV2::Route',
      Properties: { RouteKey: 'POST /a', Target: { 'Fn::Join': ['', ['integrations/', { Ref: 'Integration' }]] } },
    },
    Mapping: {
      Type: 'AWS::Lambda::EventSourceMapping',
      Properties: {
        ...{ FunctionName: { Ref: 'Fn' }, EventSourceArn: { 'Fn::GetAtt': ['Queue', 'Arn'] }, BatchSize: 3 },
        FilterCriteria: { Filters: [{ Pattern: '{"body":{"a":[1]}}' }] },
      },
    },
    Rule: {
      Type: 'AWS::Events::Rule',
      Properties: { ScheduleExpression: 'rate(1 minute)', Targets: [{ Arn: fn, Input: '{}' }] },
    },
  };
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'hostile-'));
    const artifact = { type: 'aws:cloudformation:stack', properties: { templateFile: 's.template.json' } };
    await writeFile(path.join(directory, 'manifest.json'), JSON.stringify({ artifacts: { s: artifact } }));
    await writeFile(path.join(directory, 's.assets.json'), JSON.stringify({ files: { a: { source: { path: 'x' } } } }));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('is read, or refused by what to do', async () => {
    const read = () => readSynthesizedApp(directory, (name) => `http://127.0.0.1/${name}`);
    const write = (template: unknown) =>
      writeFile(path.join(directory, 's.template.json'), JSON.stringify(template) ?? '');
    await write({ Resources: resources });
    expect((await read()).routes).toHaveLength(1);
    await fc.assert(
      fc.asyncProperty(mutated({ Resources: resources }), async (template) => {
        await write(template);
        try {
          await read();
        } catch (error) {
          expect(error).toBeInstanceOf(StartError);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('of prototypes is no reference', () => {
    for (const ref of ['constructor', '__proto__', 'toString']) {
      expect(() => resolveText({ Ref: ref }, new Map())).toThrow(StartError);
      const names = new Map([['Q', { ref: 'q', attributes: {} }]]);
      expect(() => resolveText({ 'Fn::GetAtt': ['Q', ref] }, names)).toThrow(StartError);
    }
  });

  it('as a pattern or a schedule is understood, or refused by its own error', () => {
    const pattern = {
      source: ['a', { prefix: 'b' }, { 'anything-but': { suffix: 'x' } }, { numeric: ['>', 1, '<', 5] }],
      detail: { $or: [{ a: [{ exists: false }] }, { b: [{ wildcard: 'a*b' }, { 'equals-ignore-case': 'A' }] }] },
    };
    fc.assert(
      fc.property(mutated(pattern), hostileJson, (given, event) => {
        try {
          eventPattern(given as never)(event);
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
          expect((error as Error).message).toContain('The event pattern is not understood');
        }
      }),
      { numRuns: 500 },
    );
    const words = fc.constantFrom(
      '*',
      '?',
      'L',
      'MON-FRI',
      '1/0',
      '5-1',
      '1,',
      '99',
      'JAN',
      '0/15',
      '-1',
      '1-',
      '',
      'W',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          hostileText,
          fc.array(words, { minLength: 6, maxLength: 6 }).map((fields) => `cron(${fields.join(' ')})`),
          fc.nat().map((n) => `rate(${n} minutes)`),
        ),
        (expression) => {
          try {
            const next = scheduleExpression(expression)(Date.UTC(2026, 11, 1));
            if (next !== undefined) expect(next).toBeGreaterThan(Date.UTC(2026, 11, 1));
          } catch (error) {
            expect(error).toBeInstanceOf(RangeError);
            expect((error as Error).message).toContain('is not understood: write rate(5 minutes)');
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
