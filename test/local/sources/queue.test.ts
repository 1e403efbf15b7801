import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { createLocalQueues, manualClock } from '../../../lib/local/index.js';

const setUp = () => {
  const clock = manualClock();
  return { clock, queues: createLocalQueues({ clock }) };
};
const bodies = (messages: readonly { body: string }[]) => messages.map(({ body }) => body);

describe('a standard queue', () => {
  it('hides a received message for the visibility timeout, and counts its receives', () => {
    const { clock, queues } = setUp();
    const queue = queues.create('orders', { visibilityTimeoutSeconds: 30 });
    queue.send({ body: 'a' });
    expect(queue.receive(10)).toMatchObject([{ body: 'a', receiveCount: 1 }]);
    expect(queue.receive(10)).toEqual([]);
    clock.advance(29_999);
    expect(queue.receive(10)).toEqual([]);
    expect(queue.messages()).toMatchObject([{ state: 'inFlight' }]);
    clock.advance(1);
    expect(queue.receive(10)).toMatchObject([{ body: 'a', receiveCount: 2 }]);
  });

  it('deletes by the handle of the last receive only', () => {
    const { clock, queues } = setUp();
    const queue = queues.create('orders');
    queue.send({ body: 'a' });
    const [first] = queue.receive(1);
    clock.advance(30_000);
    const [second] = queue.receive(1);
    expect(queue.delete(first!.receiptHandle)).toBe(false);
    expect(queue.delete(second!.receiptHandle)).toBe(true);
    expect(queue.messages()).toEqual([]);
  });

  it('sends a message to the dead letter queue when it was received too often', () => {
    const { clock, queues } = setUp();
    const dead = queues.create('dead');
    const queue = queues.create('orders', { redrive: { deadLetterQueue: dead, maxReceiveCount: 2 } });
    const { messageId } = queue.send({ body: 'a' });
    for (let receive = 0; receive < 2; receive += 1) {
      expect(queue.receive(1)).toHaveLength(1);
      clock.advance(30_000);
    }
    expect(queue.receive(1)).toEqual([]);
    expect(queue.messages()).toEqual([]);
    expect(dead.receive(1)).toMatchObject([{ messageId, receiveCount: 1, deadLetterSource: queue.arn }]);
  });

  it('delays messages, and forgets them after the retention period', () => {
    const { clock, queues } = setUp();
    const queue = queues.create('orders', { delaySeconds: 5, retentionSeconds: 60 });
    queue.send({ body: 'late' });
    queue.send({ body: 'soon', delaySeconds: 0 });
    expect(bodies(queue.receive(10))).toEqual(['soon']);
    clock.advance(5000);
    expect(bodies(queue.receive(10))).toEqual(['late']);
    clock.advance(56_000);
    expect(queue.messages()).toEqual([]);
  });

  it('refuses a body above 1 MiB', () => {
    const queue = setUp().queues.create('orders');
    expect(() => queue.send({ body: 'x'.repeat(1024 * 1024 + 1) })).toThrow('at most 1 MiB');
  });

  it('tells when the next message is visible', () => {
    const { clock, queues } = setUp();
    const queue = queues.create('orders', { visibilityTimeoutSeconds: 30 });
    expect(queue.nextVisibleAt()).toBeUndefined();
    queue.send({ body: 'a', delaySeconds: 7 });
    expect(queue.nextVisibleAt()).toBe(clock() + 7000);
  });
});

describe('a FIFO queue', () => {
  it('gives several messages of a group in one receive, and then no more until they are deleted', () => {
    const { queues } = setUp();
    const queue = queues.create('orders.fifo', { contentBasedDeduplication: true });
    for (const body of ['a1', 'a2', 'a3']) queue.send({ body, groupId: 'a' });
    queue.send({ body: 'b1', groupId: 'b' });
    const first = queue.receive(2);
    expect(bodies(first)).toEqual(['a1', 'a2']);
    expect(bodies(queue.receive(10))).toEqual(['b1']);
    queue.delete(first[0]!.receiptHandle);
    expect(queue.receive(10)).toEqual([]);
    queue.delete(first[1]!.receiptHandle);
    expect(bodies(queue.receive(10))).toEqual(['a3']);
  });

  it('gives messages that were not deleted again in their order', () => {
    const { clock, queues } = setUp();
    const queue = queues.create('orders.fifo', { contentBasedDeduplication: true });
    for (const body of ['1', '2', '3']) queue.send({ body, groupId: 'a' });
    const [first] = queue.receive(10);
    queue.delete(first!.receiptHandle);
    clock.advance(30_000);
    expect(bodies(queue.receive(10))).toEqual(['2', '3']);
  });

  it('takes one message of a deduplication id in five minutes', () => {
    const { clock, queues } = setUp();
    const queue = queues.create('orders.fifo');
    const { messageId, sequenceNumber } = queue.send({ body: 'a', groupId: 'a', deduplicationId: 'd' });
    expect(queue.send({ body: 'b', groupId: 'b', deduplicationId: 'd' })).toMatchObject({ messageId, sequenceNumber });
    expect(queue.messages()).toHaveLength(1);
    clock.advance(5 * 60 * 1000);
    expect(queue.send({ body: 'b', groupId: 'b', deduplicationId: 'd' }).messageId).not.toBe(messageId);
  });

  it('keeps deduplication ids by group where it is told to', () => {
    const { queues } = setUp();
    const queue = queues.create('orders.fifo', { deduplicationScope: 'messageGroup' });
    queue.send({ body: 'a', groupId: 'a', deduplicationId: 'd' });
    queue.send({ body: 'b', groupId: 'b', deduplicationId: 'd' });
    expect(queue.messages()).toHaveLength(2);
  });

  it('refuses a message without group or deduplication id', () => {
    const queue = setUp().queues.create('orders.fifo');
    expect(() => queue.send({ body: 'a', deduplicationId: 'd' })).toThrow('without a group');
    expect(() => queue.send({ body: 'a', groupId: 'a' })).toThrow('deduplication id');
  });

  it('refuses an expired handle', () => {
    const { clock, queues } = setUp();
    const queue = queues.create('orders.fifo', { contentBasedDeduplication: true });
    queue.send({ body: 'a', groupId: 'a' });
    const [message] = queue.receive(1);
    clock.advance(30_000);
    expect(queue.delete(message!.receiptHandle)).toBe(false);
  });
});

describe('queues', () => {
  it('refuse names that SQS refuses, names taken, and a dead letter queue of the other kind', () => {
    const { queues } = setUp();
    const dead = queues.create('dead');
    expect(() => queues.create('dead')).toThrow('already');
    expect(() => queues.create('with space')).toThrow(RangeError);
    expect(() => queues.create('a.fifo', { redrive: { deadLetterQueue: dead, maxReceiveCount: 1 } })).toThrow('kind');
  });
});

describe.each(['in process', 'over HTTP'])('the API of SQS %s', (how) => {
  it('sends, receives, hides and deletes, with attributes and groups', async () => {
    const { clock, queues } = setUp();
    const endpoint = how === 'over HTTP' ? (await queues.listen()).endpoint : undefined;
    const client = new SQSClient(
      endpoint === undefined
        ? queues.clientConfig
        : { endpoint, region: 'us-east-1', credentials: queues.clientConfig.credentials },
    );
    const dead = queues.create('dead.fifo');
    const queue = queues.create('orders.fifo', {
      contentBasedDeduplication: true,
      redrive: { deadLetterQueue: dead, maxReceiveCount: 5 },
    });
    const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: 'orders.fifo' }));
    if (endpoint !== undefined) expect(QueueUrl).toBe(`${endpoint}/000000000000/orders.fifo`);
    await client.send(
      new SendMessageCommand({
        QueueUrl,
        MessageBody: 'one',
        MessageGroupId: 'g',
        MessageAttributes: { kind: { DataType: 'String', StringValue: 'new' } },
      }),
    );
    const { Successful } = await client.send(
      new SendMessageBatchCommand({
        QueueUrl,
        Entries: [
          { Id: '1', MessageBody: 'one', MessageGroupId: 'g' },
          { Id: '2', MessageBody: 'two', MessageGroupId: 'g' },
        ],
      }),
    );
    expect(Successful).toHaveLength(2);
    expect(queue.messages()).toMatchObject([
      { body: 'one', groupId: 'g', attributes: { kind: { StringValue: 'new' } } },
      { body: 'two' },
    ]);
    const receive = new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    });
    const { Messages } = await client.send(receive);
    expect(Messages).toMatchObject([
      {
        Body: 'one',
        Attributes: { MessageGroupId: 'g', ApproximateReceiveCount: '1' },
        MessageAttributes: { kind: {} },
      },
      { Body: 'two' },
    ]);
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: Messages![0]!.ReceiptHandle }));
    const hide = (VisibilityTimeout: number) =>
      client.send(
        new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: Messages![1]!.ReceiptHandle, VisibilityTimeout }),
      );
    await hide(60);
    clock.advance(59_000);
    expect((await client.send(receive)).Messages).toBeUndefined();
    await hide(0);
    await expect(hide(0)).rejects.toMatchObject({ name: 'MessageNotInflight' });
    const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
    expect(Attributes).toMatchObject({
      FifoQueue: 'true',
      ContentBasedDeduplication: 'true',
      ApproximateNumberOfMessages: '1',
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: dead.arn, maxReceiveCount: 5 }),
    });
    client.destroy();
    await queues.close();
  });
});

describe('the API of SQS', () => {
  it('makes queues, and waits for messages', async () => {
    const { queues } = setUp();
    const client = new SQSClient(queues.clientConfig);
    queues.create('dead');
    await client.send(
      new CreateQueueCommand({
        QueueName: 'made',
        Attributes: {
          VisibilityTimeout: '7',
          RedrivePolicy: JSON.stringify({ deadLetterTargetArn: queues.queue('dead')!.arn, maxReceiveCount: '3' }),
        },
      }),
    );
    const made = queues.queue('made')!;
    expect(made.options).toMatchObject({
      visibilityTimeoutSeconds: 7,
      redrive: { deadLetterQueue: queues.queue('dead'), maxReceiveCount: 3 },
    });
    const waiting = client.send(new ReceiveMessageCommand({ QueueUrl: 'made', WaitTimeSeconds: 20 }));
    setTimeout(() => made.send({ body: 'at last' }), 20);
    expect((await waiting).Messages).toMatchObject([{ Body: 'at last' }]);
    client.destroy();
    await queues.close();
  });
});
