import { checkObject } from '../arguments.js';

/** Where events go, which bounds their size: a service by its default limit, or a number of bytes. */
export type OutboxTarget = 'eventbridge' | 'sns' | 'sqs' | { readonly maximumBytes: number };

/**
 * Bytes of one message, and of one batch. An item's 400 KB bind before the first and the last.
 * (https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html,
 * https://docs.aws.amazon.com/sns/latest/api/API_PublishBatch.html,
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html)
 */
const limits = { eventbridge: 999_999, sns: 262_144, sqs: 1_048_576 };

/** The bytes that a message of the target may have. */
export const maximumBytesOf = (target: OutboxTarget): number =>
  typeof target === 'string' ? limits[target] : checkObject(target, 'target').maximumBytes;
