import { randomUUID } from 'node:crypto';
import { DescribeTableCommand, GetItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { PutRuleCommand, PutTargetsCommand } from '@aws-sdk/client-eventbridge';
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFailed, test, vi } from 'vitest';
import { readFailureMessage } from '../../../lib/events/targets/sqs/index.js';
import { ACCOUNT, openAccount, REGION, whyNoAccount, type Account, type Answer, type Call } from './account.js';
import { cdk, deploy } from './cdk.js';

const STACK = 'SafeWrites-dev';
const soon = { timeout: 60_000, interval: 200 };

const missing = await whyNoAccount();
if (missing !== undefined) console.warn(`MiniStack: the deployment is skipped, because ${missing}.`);

// One stack, from its first deployment to its end: each test goes on where the one before it stopped.
describe.skipIf(missing !== undefined)('the app, deployed', () => {
  let account: Account;
  let outputs: Readonly<Record<string, string>> | undefined;
  let charged: Answer;

  beforeAll(async () => {
    account = await openAccount();
  });
  afterAll(async () => {
    await account?.close();
  });
  beforeEach(() => {
    const began = { at: Date.now(), log: account.log().length };
    onTestFailed(async () => {
      const logged = await account.logged('', began.at).catch((error: unknown) => [`cannot be read: ${String(error)}`]);
      console.error(`MiniStack:\n${account.log().slice(began.log)}\n\nThe functions:\n${logged.join('\n')}`);
    });
  });

  const output = (name: string): string => outputs?.[name] ?? expect.fail(`The stack has no output ${name}`);

  const order = { customerId: 'customer-1', amount: 1200, currency: 'CHF' };
  const charge = (key: string, body: object, options: Pick<Call, 'signed'> = {}): Promise<Answer> => {
    // The host's name leads nowhere.
    const [, api, path] = /^https:\/\/(\w+)\.[^/]+(\/.+)$/.exec(output('ChargesUrl')) ?? [];
    return account.call({
      service: 'execute-api',
      path: `/_aws/execute-api/${api}${path}`,
      headers: { 'content-type': 'application/json', 'idempotency-key': `"${key}"` },
      body: JSON.stringify(body),
      ...options,
    });
  };

  const storedMatch = async (id: string) => {
    const Key = { pk: { S: `MATCH#${id}` }, sk: { S: 'LIVE' } };
    const { Item } = await account.dynamodb.send(
      new GetItemCommand({ TableName: output('TableName'), Key, ConsistentRead: true }),
    );
    return Item;
  };
  const send = (queue: string, body: string | object, group?: string) =>
    account.sqs.send(
      new SendMessageCommand({
        QueueUrl: output(queue),
        MessageBody: typeof body === 'string' ? body : JSON.stringify(body),
        ...(group !== undefined && { MessageGroupId: group, MessageDeduplicationId: randomUUID() }),
      }),
    );
  const isDrained = async (queue: string) => {
    const { Attributes } = await account.sqs.send(
      new GetQueueAttributesCommand({ QueueUrl: output(queue), AttributeNames: ['All'] }),
    );
    expect(Attributes).toMatchObject({
      ApproximateNumberOfMessages: '0',
      ApproximateNumberOfMessagesNotVisible: '0',
    });
  };
  /** The queue of that name, or of the stack's resource with that logical name. */
  const queueUrl = async (name: string): Promise<string> => {
    const { QueueUrls = [] } = await account.sqs.send(new ListQueuesCommand({ QueueNamePrefix: name }));
    expect(QueueUrls).toHaveLength(1);
    return QueueUrls[0]!;
  };
  const received = async (QueueUrl: string): Promise<string> => {
    const { Messages: [message] = [] } = await account.sqs.send(
      new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1 }),
    );
    expect(message).toBeDefined();
    return message!.Body!;
  };

  /** A queue that is sent these events of the bus. */
  const subscribe = async (QueueName: string, type: string): Promise<void> => {
    const Arn = `arn:aws:sqs:${REGION}:${ACCOUNT}:${QueueName}`;
    const sender = { Effect: 'Allow', Principal: { Service: 'events.amazonaws.com' }, Action: 'sqs:SendMessage' };
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement: { ...sender, Resource: Arn } });
    await account.sqs.send(new CreateQueueCommand({ QueueName, Attributes: { Policy } }));

    const EventBusName = output('EventBusName');
    const EventPattern = JSON.stringify({ 'detail-type': [type] });
    await account.eventBridge.send(new PutRuleCommand({ Name: QueueName, EventBusName, EventPattern }));
    const { FailedEntryCount } = await account.eventBridge.send(
      new PutTargetsCommand({ Rule: QueueName, EventBusName, Targets: [{ Id: 'queue', Arn }] }),
    );
    expect(FailedEntryCount).toBe(0);
  };

  test('takes the first deployment, with no options', async () => {
    await cdk(account, 'bootstrap', `aws://${ACCOUNT}/${REGION}`);
    outputs = await deploy(account);
    expect(Object.keys(outputs).sort()).toEqual([
      'ChargesUrl',
      'EventBusName',
      'EventsInOrderQueueUrl',
      'EventsQueueUrl',
      'TableName',
    ]);
  });

  test('charges once per key, and signed callers only', async () => {
    await subscribe('subscriber', 'charge.created');

    expect(await charge('key-1', order, { signed: false })).toMatchObject({ status: 403 });
    charged = await charge('key-1', order);
    expect(charged).toMatchObject({ status: 201 });
    expect(charged.headers['location']).toMatch(/^\/charges\/./);
    expect(JSON.parse(charged.body)).toMatchObject(order);
    expect(charged.headers).not.toHaveProperty('idempotent-replayed');

    const replayed = await charge('key-1', order);
    expect(replayed).toMatchObject({ status: 201, body: charged.body, headers: { 'idempotent-replayed': 'true' } });
    expect(await charge('key-1', { ...order, amount: 1 })).toMatchObject({ status: 422 });
  });

  test('takes the event of the charge through stream, relay and bus into a queue', async () => {
    const { chargeId } = JSON.parse(charged.body) as { chargeId: string };
    const subscriber = await queueUrl('subscriber');
    const event = JSON.parse(await vi.waitFor(() => received(subscriber), soon)) as Record<string, unknown>;
    expect(event).toMatchObject({
      source: 'safewrites.charges',
      'detail-type': 'charge.created',
      detail: { subject: `charge:${chargeId}`, data: { chargeId, ...order } },
    });
    // Sent, so it has left the outbox.
    await vi.waitFor(async () => {
      const { Count } = await account.dynamodb.send(
        new ScanCommand({
          TableName: output('TableName'),
          FilterExpression: '#type = :outbox',
          ExpressionAttributeNames: { '#type': '_type' },
          ExpressionAttributeValues: { ':outbox': { S: 'OUTBOX' } },
          ConsistentRead: true,
        }),
      );
      expect(Count).toBe(0);
    }, soon);
  });

  test('keeps the newest state of events that come to its queues in any order, and sets poison aside', async () => {
    const score = (home: number) => ({
      type: 'score',
      matchId: 'm-1',
      home,
      away: 1,
      at: `2027-05-01T18:0${home}:00Z`,
    });
    await send('EventsQueueUrl', 'no JSON');
    for (const home of [3, 1, 3, 2, 0]) await send('EventsQueueUrl', score(home));
    for (const [minute, status] of ['live', 'ended'].entries()) {
      const body = { type: 'status', matchId: 'm-1', status, at: `2027-05-01T19:0${minute}:00Z` };
      await send('EventsInOrderQueueUrl', body, 'm-1');
    }
    for (const queue of ['EventsQueueUrl', 'EventsInOrderQueueUrl']) await vi.waitFor(() => isDrained(queue), soon);

    expect(await storedMatch('m-1')).toMatchObject({
      homeGoals: { N: '3' },
      awayGoals: { N: '1' },
      status: { S: 'ended' },
    });
    const failures = await queueUrl(`${STACK}-IngestFailures`);
    const failure = readFailureMessage(await vi.waitFor(() => received(failures), soon));
    expect(failure).toMatchObject({ source: 'sqs', reason: 'json', record: { body: 'no JSON' } });
  });

  test('runs its functions under their own roles', async () => {
    const { body } = await account.call({ service: 'lambda', method: 'GET', path: '/2015-03-31/functions/' });
    const { Functions } = JSON.parse(body) as { Functions: { FunctionName: string; Role: string }[] };
    const role = Functions.find(({ FunctionName }) => FunctionName.startsWith(`${STACK}-Charge`))
      ?.Role.split('/')
      .at(-1);
    expect(role).toBeDefined();
    const iam = async (Action: string, parameters: Record<string, string>) => {
      const query = new URLSearchParams({
        Action,
        Version: '2010-05-08',
        RoleName: role!,
        PolicyName: 'test',
        ...parameters,
      });
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      expect(await account.call({ service: 'iam', headers, body: query.toString() })).toMatchObject({ status: 200 });
    };

    const denied = { Effect: 'Deny', Action: 'dynamodb:PutItem', Resource: '*' };
    await iam('PutRolePolicy', { PolicyDocument: JSON.stringify({ Version: '2012-10-17', Statement: denied }) });
    expect(await charge('key-2', order)).toMatchObject({ status: 500 });
    await iam('DeleteRolePolicy', {});
    expect(await charge('key-2', order)).toMatchObject({ status: 201 });
  });

  test('keeps its data when an option changes', async () => {
    const retentions = async () => new Set((await account.logGroups()).map(({ retentionInDays }) => retentionInDays));
    expect(await retentions()).toEqual(new Set([30]));
    const before = outputs;
    outputs = await deploy(account, '--context', 'logRetentionDays=7');
    expect(outputs).toEqual(before);
    expect(await retentions()).toEqual(new Set([7]));
    expect(await charge('key-1', order)).toMatchObject({
      status: 201,
      body: charged.body,
      headers: { 'idempotent-replayed': 'true' },
    });
  });

  test('sweeps its outbox every minute', async () => {
    const isScheduled = async () => {
      const lines = (await account.logged('Relay')).filter((line) => line.includes('"source":"schedule"'));
      expect(lines).not.toEqual([]);
      return lines;
    };
    const [line] = await vi.waitFor(isScheduled, { timeout: 90_000, interval: 1000 });
    expect(JSON.parse(line!)).toMatchObject({ level: 'INFO', message: 'relay', Failed: 0 });
  });

  test('leaves its table when it is destroyed', async () => {
    await cdk(account, 'destroy', '--force', '--context', 'logRetentionDays=7');
    const TableName = output('TableName');
    const { Table } = await account.dynamodb.send(new DescribeTableCommand({ TableName }));
    expect(Table).toMatchObject({ TableStatus: 'ACTIVE' });
    expect(await storedMatch('m-1')).toBeDefined();
    const { QueueUrls } = await account.sqs.send(new ListQueuesCommand({ QueueNamePrefix: STACK }));
    expect(QueueUrls ?? []).toEqual([]);
    expect(await charge('key-1', order)).toMatchObject({ status: 404 });
  });
});
