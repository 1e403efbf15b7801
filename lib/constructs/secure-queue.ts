import { Duration, Stack, Token } from 'aws-cdk-lib/core';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.js';
import { refuse } from './invalid-prop-error.js';

/** The longest that SQS keeps a message. */
export const longestRetention = Duration.days(14);

/** An encrypted queue that is reached by TLS only. */
export function secureQueue(scope: Construct, id: string, props: sqs.QueueProps): sqs.Queue {
  const { SQS_MANAGED, KMS } = sqs.QueueEncryption;
  const encryption = props.encryptionMasterKey === undefined ? SQS_MANAGED : KMS;
  return new sqs.Queue(scope, id, { encryption, enforceSSL: true, ...props });
}

const isLast = 'It is where messages end up: nothing reads it but people and their redrive.';

/** A queue for what could not be handled, to which no other queue redrives: somebody has 14 days to look at it. */
export function lastQueue(scope: Construct, id: string, props: sqs.QueueProps = {}): sqs.Queue {
  const queue = deadLetterQueue(scope, id, props);
  acknowledge(queue, { 'AwsSolutions-SQS3': isLast });
  return queue;
}

/** A queue for messages that another queue redrives. */
export function deadLetterQueue(scope: Construct, id: string, props: sqs.QueueProps = {}): sqs.Queue {
  const queue = secureQueue(scope, id, { retentionPeriod: longestRetention, ...props });
  acknowledge(queue, { 'Serverless-SQSRedrivePolicy': isLast });
  return queue;
}

/** What the template says of a queue; undefined for one that is imported. */
export interface QueueDescription {
  readonly visibilitySeconds: number;
  readonly retentionSeconds: number;
  readonly fifo: boolean;
  /** Whether messages that fail leave it. */
  readonly redrives: boolean;
}

/** Reads a queue of this app. */
export function describeQueue(scope: Construct, prop: string, queue: sqs.IQueue): QueueDescription | undefined {
  const resource = queue.node.defaultChild;
  if (!(resource instanceof sqs.CfnQueue)) return undefined;
  const { visibilityTimeout = 30, messageRetentionPeriod = 345_600, fifoQueue } = resource;
  if (Token.isUnresolved(visibilityTimeout) || Token.isUnresolved(messageRetentionPeriod)) {
    return refuse(
      scope,
      prop,
      'its visibility timeout or retention is known only at deploy, but others depend on it: give it as a literal',
    );
  }
  return {
    visibilitySeconds: visibilityTimeout,
    retentionSeconds: messageRetentionPeriod,
    fifo: fifoQueue === true,
    redrives: Stack.of(resource).resolve(resource.redrivePolicy) !== undefined,
  };
}
