import { CreateTopicCommand, SNSClient, SubscribeCommand } from '@aws-sdk/client-sns';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SQSClient,
  type Message,
} from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { onTestFinished } from 'vitest';

/** Queues and topics of an emulator of a test's own. */
export interface Queues {
  readonly sqs: SQSClient;
  readonly sns: SNSClient;
  readonly queue: (name: string) => Promise<string>;
  /** A topic, with a queue of its kind behind it that gets messages raw. */
  readonly topic: (name: string) => Promise<{ topicArn: string; queueUrl: string }>;
  /** Takes the messages of a queue, in the order in which it gives them. */
  readonly receive: (queueUrl: string) => Promise<Message[]>;
}

const attributesOf = (name: string): Record<string, string> => (name.endsWith('.fifo') ? { FifoQueue: 'true' } : {});

export const testQueues = async (): Promise<Queues> => {
  const app = buildApp({ logger: false, host: '127.0.0.1' });
  const endpoint = await app.listen({ host: '127.0.0.1', port: 0 });
  const config = { endpoint, region: 'us-east-1', credentials: { accessKeyId: 'test', secretAccessKey: 'test' } };
  const sqs = new SQSClient(config);
  const sns = new SNSClient(config);
  onTestFinished(async () => {
    sqs.destroy();
    sns.destroy();
    await app.close();
  });
  // What the emulator names a queue by is not where it listens.
  const queue = async (QueueName: string): Promise<string> => {
    await sqs.send(new CreateQueueCommand({ QueueName, Attributes: attributesOf(QueueName) }));
    return `${endpoint}/000000000000/${QueueName}`;
  };
  return {
    sqs,
    sns,
    queue,
    async topic(name) {
      const { TopicArn = '' } = await sns.send(
        new CreateTopicCommand({ Name: name, ...(name.endsWith('.fifo') && { Attributes: { FifoTopic: 'true' } }) }),
      );
      const queueUrl = await queue(`behind-${name}`);
      const Endpoint = `arn:aws:sqs:us-east-1:000000000000:behind-${name}`;
      const Attributes = { RawMessageDelivery: 'true' };
      await sns.send(new SubscribeCommand({ TopicArn, Protocol: 'sqs', Endpoint, Attributes }));
      return { topicArn: TopicArn, queueUrl };
    },
    async receive(QueueUrl) {
      const all: Message[] = [];
      for (;;) {
        const { Messages = [] } = await sqs.send(
          new ReceiveMessageCommand({
            ...{ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 0 },
            ...{ MessageAttributeNames: ['All'], MessageSystemAttributeNames: ['All'] },
          }),
        );
        if (Messages.length === 0) return all;
        for (const { ReceiptHandle } of Messages) await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
        all.push(...Messages);
      }
    },
  };
};
