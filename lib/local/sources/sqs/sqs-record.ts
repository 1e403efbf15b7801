import { createHash } from 'node:crypto';
import type { ReceivedLocalMessage } from '../queues/local-queue.js';

/** A message as Lambda's event shows it (https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html). */
export function sqsRecord(message: ReceivedLocalMessage, queueArn: string) {
  const { messageId, receiptHandle, body, receiveCount, sentAt, firstReceivedAt } = message;
  const { groupId, deduplicationId, sequenceNumber, deadLetterSource, attributes } = message;
  return {
    messageId,
    receiptHandle,
    body,
    attributes: {
      ApproximateReceiveCount: String(receiveCount),
      SentTimestamp: String(sentAt),
      SenderId: '000000000000',
      ApproximateFirstReceiveTimestamp: String(firstReceivedAt),
      ...(sequenceNumber === undefined ? {} : { SequenceNumber: sequenceNumber }),
      ...(groupId === undefined ? {} : { MessageGroupId: groupId }),
      ...(deduplicationId === undefined ? {} : { MessageDeduplicationId: deduplicationId }),
      ...(deadLetterSource === undefined ? {} : { DeadLetterQueueSourceArn: deadLetterSource }),
    },
    messageAttributes: Object.fromEntries(
      Object.entries(attributes).map(([name, { DataType, StringValue, BinaryValue }]) => [
        name,
        {
          ...(StringValue === undefined ? {} : { stringValue: StringValue }),
          ...(BinaryValue === undefined ? {} : { binaryValue: BinaryValue }),
          stringListValues: [],
          binaryListValues: [],
          dataType: DataType,
        },
      ]),
    ),
    md5OfBody: createHash('md5').update(body).digest('hex'),
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: queueArn.split(':')[3]!,
  };
}
