import { App, Duration, Stack, Token } from 'aws-cdk-lib';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import type { OrderedIngestProps, SqsSourceProps } from '../../lib/constructs/index.js';
import { OrderedIngest, SafeWritesTable } from '../../lib/constructs/index.js';
import { allowedIn, anyCode, ownLogsAndTraces, templateOf } from './synth.js';

const ingestIn = (stack: Stack, props: Partial<OrderedIngestProps> = {}) =>
  new OrderedIngest(stack, 'Ingest', { table: new SafeWritesTable(stack, 'Table'), code: anyCode(), ...props });

const withQueue = (source: SqsSourceProps = {}, props: Partial<OrderedIngestProps> = {}) =>
  templateOf((stack) => ingestIn(stack, props).addSqs('Scores', source));

const mapping = 'AWS::Lambda::EventSourceMapping';
const queueType = 'AWS::SQS::Queue';

describe('OrderedIngest', () => {
  it('is a function that is told its table, its failure queue, its lateness and that failures are reported', () => {
    withQueue().hasResourceProperties('AWS::Lambda::Function', {
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Timeout: 30,
      MemorySize: 1024,
      TracingConfig: { Mode: 'Active' },
      LoggingConfig: { LogFormat: 'JSON' },
      Environment: {
        Variables: {
          TABLE_NAME: { Ref: Match.stringLikeRegexp('^Table') },
          SAFEWRITES_FAILURE_QUEUE_URL: { Ref: Match.stringLikeRegexp('^IngestFailures') },
          SAFEWRITES_LATENESS_DAYS: '30',
          SAFEWRITES_PARTIAL_RESPONSES: 'true',
        },
      },
    });
  });

  it('may update items, take messages off its queues and set records aside', () => {
    const template = templateOf((stack) => {
      const ingest = ingestIn(stack);
      ingest.addSqs('Scores');
      ingest.addSqs('InOrder', { fifo: true });
    });
    expect(allowedIn(template)).toEqual([
      'dynamodb:UpdateItem on Table.Arn',
      ...ownLogsAndTraces('IngestHandler').slice(0, 1),
      'sqs:DeleteMessage,sqs:GetQueueAttributes,sqs:ReceiveMessage on IngestInOrderQueue.Arn,IngestScoresQueue.Arn',
      'sqs:SendMessage on IngestFailures.Arn',
      ...ownLogsAndTraces('IngestHandler').slice(1),
    ]);
  });

  it('has encrypted queues that are reached by TLS only, and keep what failed for 14 days', () => {
    const template = withQueue();
    template.resourceCountIs(queueType, 3);
    template.allResourcesProperties(queueType, { SqsManagedSseEnabled: true });
    template.resourceCountIs('AWS::SQS::QueuePolicy', 3);
    template.allResourcesProperties('AWS::SQS::QueuePolicy', {
      PolicyDocument: {
        Statement: [
          Match.objectLike({
            Effect: 'Deny',
            Action: 'sqs:*',
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          }),
        ],
      },
    });
    const kept = Object.values(template.findResources(queueType)).map(
      ({ Properties }) => (Properties as { MessageRetentionPeriod: number }).MessageRetentionPeriod,
    );
    expect(kept.sort()).toEqual([1_209_600, 1_209_600, 345_600]);
  });

  it('derives the visibility timeout from that of the function, and reports failures by message', () => {
    const template = withQueue({}, { timeout: Duration.seconds(20) });
    template.hasResourceProperties(queueType, {
      VisibilityTimeout: 120,
      MaximumMessageSize: 262_144,
      RedrivePolicy: {
        maxReceiveCount: 5,
        deadLetterTargetArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('DeadLetters'), 'Arn'] },
      },
    });
    template.resourceCountIs(mapping, 1);
    template.hasResourceProperties(mapping, {
      BatchSize: 10,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: Match.absent(),
      MaximumBatchingWindowInSeconds: Match.absent(),
    });
  });

  it('gathers large batches for a second, hides them for that too, and takes no message that would not fit', () => {
    const template = withQueue({ batchSize: 100 }, { timeout: Duration.seconds(20) });
    template.hasResourceProperties(mapping, { BatchSize: 100, MaximumBatchingWindowInSeconds: 1 });
    template.hasResourceProperties(queueType, { VisibilityTimeout: 121, MaximumMessageSize: 61_890 });
  });

  it('reads FIFO queues, with FIFO dead-letter queues', () => {
    const template = withQueue({ fifo: true });
    const fifo = Object.values(template.findResources(queueType, { Properties: { FifoQueue: true } }));
    expect(fifo).toHaveLength(2);
  });

  it('shares what calls are reserved among its queues', () => {
    const concurrency = (reserved: number, ...sources: SqsSourceProps[]) => {
      const template = templateOf((stack) => {
        const ingest = ingestIn(stack, { reservedConcurrentExecutions: reserved });
        sources.forEach((source, i) => ingest.addSqs(`Q${i}`, source));
      });
      return Object.values(template.findResources(mapping)).map(
        ({ Properties }) =>
          (Properties as { ScalingConfig?: { MaximumConcurrency: number } }).ScalingConfig?.MaximumConcurrency,
      );
    };
    expect(concurrency(10, {})).toEqual([10]);
    expect(concurrency(10, { maxConcurrency: 4 }, {}, {})).toEqual([4, 3, 3]);
    expect(() => concurrency(10, { maxConcurrency: 11 })).toThrow('reservedConcurrentExecutions: 10 are too few');
    expect(() => concurrency(3, {}, {})).toThrow('reservedConcurrentExecutions: 3 are too few');
  });

  it('takes pollers of its own', () => {
    withQueue({ provisionedPollers: { minimumPollers: 2, maximumPollers: 5 } }).hasResourceProperties(mapping, {
      ProvisionedPollerConfig: { MinimumPollers: 2, MaximumPollers: 5 },
      ScalingConfig: Match.absent(),
    });
  });

  it('reads a queue that is there already', () => {
    const template = templateOf((stack) => {
      const dead = new sqs.Queue(stack, 'Dead', { retentionPeriod: Duration.days(14) });
      const existingQueue = new sqs.Queue(stack, 'Mine', {
        visibilityTimeout: Duration.minutes(5),
        deadLetterQueue: { queue: dead, maxReceiveCount: 5 },
      });
      const source = ingestIn(stack).addSqs('Scores', { existingQueue, existingDeadLetterQueue: dead });
      expect([source.queue, source.deadLetterQueue]).toEqual([existingQueue, dead]);
    });
    template.resourceCountIs(queueType, 3);
    expect(allowedIn(template).join('\n')).toContain('sqs:ReceiveMessage on Mine.Arn');
  });

  it('reads an imported queue, of which it is told what the template does not say', () => {
    const read = (source: SqsSourceProps) =>
      templateOf((stack) =>
        ingestIn(stack).addSqs('Scores', {
          existingQueue: sqs.Queue.fromQueueArn(stack, 'Mine', 'arn:aws:sqs:eu-west-1:111122223333:scores.fifo'),
          ...source,
        }),
      );
    read({ visibilityTimeout: Duration.minutes(3), retention: Duration.days(4) }).hasResourceProperties(mapping, {
      BatchSize: 10,
    });
    expect(() => read({ retention: Duration.days(4) })).toThrow('visibilityTimeout: nothing tells it');
    expect(() => read({ visibilityTimeout: Duration.minutes(3) })).toThrow('retention: nothing tells it');
    expect(() => read({ visibilityTimeout: Duration.minutes(1), retention: Duration.days(4) })).toThrow(
      'visibilityTimeout: is 60 s, but must be 180 s',
    );
    expect(() => read({ fifo: false, visibilityTimeout: Duration.minutes(3), retention: Duration.days(4) })).toThrow(
      'fifo: existingQueue is FIFO',
    );
    expect(() => read({ batchSize: 11 })).toThrow('batchSize: must be a whole number from 1 to 10');
  });

  it('sets poison aside where it is told to', () => {
    const template = templateOf((stack) => {
      const existingFailureQueue = new sqs.Queue(stack, 'Aside');
      const ingest = ingestIn(stack, { existingFailureQueue });
      ingest.addSqs('Scores');
      expect(ingest.failureQueue).toBe(existingFailureQueue);
    });
    expect(allowedIn(template)).toContain('sqs:SendMessage on Aside.Arn');
    withQueue({}, { failureQueueProps: { queueName: 'aside' } }).hasResourceProperties(queueType, {
      QueueName: 'aside',
      MessageRetentionPeriod: 1_209_600,
    });
  });

  const elsewhere = () => new Stack(new App(), 'Other');
  const token = () => Token.asNumber({ Ref: 'Parameter' });
  const queue = (props?: sqs.QueueProps) => new sqs.Queue(elsewhere(), 'Q', props);
  const dead = () => ({ queue: queue(), maxReceiveCount: 5 });

  it.each<[string, SqsSourceProps, string]>([
    [
      'a message that shows while it is worked on',
      { visibilityTimeout: Duration.seconds(179) },
      'visibilityTimeout: is 179 s, but must be 180 s or more',
    ],
    [
      'the same by queueProps',
      { queueProps: { visibilityTimeout: Duration.seconds(30) } },
      'visibilityTimeout: is 30 s',
    ],
    [
      'the same of a queue that is there',
      { existingQueue: queue({ deadLetterQueue: dead() }) },
      'existingQueue: its visibility timeout is 30 s',
    ],
    [
      'a queue without dead-letter queue',
      { existingQueue: queue({ visibilityTimeout: Duration.minutes(5) }) },
      'existingQueue: has no dead-letter queue',
    ],
    [
      'a queue with a timeout that is not known',
      { existingQueue: queue({ visibilityTimeout: Duration.seconds(token()) }) },
      'existingQueue: its visibility timeout or retention is known only at deploy',
    ],
    ['two queues', { existingQueue: queue(), queueProps: {} }, 'existingQueue: is given together with queueProps'],
    [
      'a timeout for a queue that has one',
      {
        existingQueue: queue({ visibilityTimeout: Duration.minutes(5), deadLetterQueue: dead() }),
        visibilityTimeout: Duration.minutes(5),
      },
      'existingQueue: is given together with visibilityTimeout',
    ],
    [
      'retries for a queue that has some',
      { existingQueue: queue({ visibilityTimeout: Duration.minutes(5), deadLetterQueue: dead() }), maxReceiveCount: 3 },
      'maxReceiveCount: is about a new queue',
    ],
    [
      'a FIFO queue with a standard dead-letter queue',
      { fifo: true, existingDeadLetterQueue: queue({ retentionPeriod: Duration.days(14) }) },
      'existingDeadLetterQueue: must be FIFO',
    ],
    [
      'a standard queue with a FIFO dead-letter queue',
      { existingDeadLetterQueue: queue({ fifo: true }) },
      'existingDeadLetterQueue: must not be FIFO',
    ],
    [
      'a dead-letter queue that forgets first',
      { existingDeadLetterQueue: queue({ retentionPeriod: Duration.days(1) }) },
      'existingDeadLetterQueue: keeps messages for 86400 s, less than the queue',
    ],
    [
      'a dead-letter queue by queueProps',
      { queueProps: { deadLetterQueue: dead() } },
      'deadLetterQueue: give it as existingDeadLetterQueue',
    ],
    ['no retries', { maxReceiveCount: 0 }, 'maxReceiveCount: must be a whole number'],
    ['a FIFO batch of 11', { fifo: true, batchSize: 11 }, 'batchSize: must be a whole number from 1 to 10'],
    ['a batch size that is not known', { batchSize: token() }, 'batchSize: is known only at deploy'],
    [
      'a FIFO window',
      { fifo: true, maxBatchingWindow: Duration.seconds(1) },
      'maxBatchingWindow: a FIFO queue has none',
    ],
    [
      'a large batch without window',
      { batchSize: 11, maxBatchingWindow: Duration.seconds(0) },
      'maxBatchingWindow: must be 1 s or more',
    ],
    ['a window of six minutes', { maxBatchingWindow: Duration.minutes(6) }, 'maxBatchingWindow: must be 300 s at most'],
    [
      'batches that can not fit',
      { batchSize: 100, maximumMessageBytes: 100_000 },
      'batchSize: 100 messages of 100000 bytes are more than the 6 MB that Lambda takes',
    ],
    ['batches that can never fit', { batchSize: 10_000 }, 'batchSize: 10000 messages of no more than 1 KiB'],
    ['concurrency of one', { maxConcurrency: 1 }, 'maxConcurrency: must be a whole number from 2'],
    [
      'concurrency of pollers',
      { maxConcurrency: 5, provisionedPollers: {} },
      'maxConcurrency: is given together with provisionedPollers',
    ],
    ['one poller', { provisionedPollers: { minimumPollers: 1 } }, 'provisionedPollers.minimumPollers: must be'],
  ])('refuses %s', (_, source, message) => {
    expect(() => withQueue(source)).toThrow(message);
  });

  it.each<[string, Partial<OrderedIngestProps>, SqsSourceProps, string]>([
    [
      'lateness below what the queues keep',
      { lateness: Duration.days(17) },
      {},
      'lateness: is 17 days, but Scores and the queue of its failures keep an event for up to 18',
    ],
    ['lateness of hours', { lateness: Duration.hours(36) }, {}, 'lateness: must be whole days'],
    [
      'two failure queues',
      { existingFailureQueue: queue(), failureQueueProps: {} },
      {},
      'existingFailureQueue: is given together with failureQueueProps',
    ],
    [
      'environment that is derived',
      { environment: { SAFEWRITES_PARTIAL_RESPONSES: 'false' } },
      {},
      'environment: SAFEWRITES_PARTIAL_RESPONSES is set by the construct',
    ],
    [
      'too many pollers',
      { reservedConcurrentExecutions: 40 },
      { provisionedPollers: { maximumPollers: 5 } },
      'provisionedPollers: 5 pollers make up to 50 calls at once',
    ],
  ])('refuses %s', (_, props, source, message) => {
    expect(() => withQueue(source, props)).toThrow(message);
  });

  it('refuses to be without source', () => {
    expect(() => templateOf((stack) => ingestIn(stack))).toThrow('has no source: add one');
  });

  it('adds no queue to what is read where a source is refused', () => {
    templateOf((stack) => {
      const ingest = ingestIn(stack);
      expect(() => ingest.addSqs('Bad', { maxReceiveCount: 0 })).toThrow();
      ingest.addSqs('Good');
      expect(ingest.sources.map(({ node }) => node.id)).toEqual(['Good']);
    });
  });

  describe('of a queue that is there', () => {
    const settled = (stack: Stack, id: string, deadLetters?: sqs.QueueProps) => {
      const dead = new sqs.Queue(stack, `${id}Dead`, { retentionPeriod: Duration.days(14), ...deadLetters });
      return new sqs.Queue(stack, id, {
        visibilityTimeout: Duration.minutes(5),
        deadLetterQueue: { queue: dead, maxReceiveCount: 5 },
      });
    };

    it('watches the dead-letter queue that it has', () => {
      templateOf((stack) => {
        ingestIn(stack).addSqs('Scores', { existingQueue: settled(stack, 'Mine') });
      }).hasResourceProperties('AWS::CloudWatch::Alarm', {
        AlarmDescription: Match.stringLikeRegexp('Dead letters'),
        Dimensions: [{ Value: { 'Fn::GetAtt': [Match.stringLikeRegexp('^MineDead'), 'QueueName'] } }],
      });
    });

    it.each<[string, (stack: Stack) => unknown, string]>([
      [
        'a dead-letter queue that is not its own',
        (stack) =>
          ingestIn(stack).addSqs('Scores', {
            existingQueue: settled(stack, 'Mine'),
            existingDeadLetterQueue: new sqs.Queue(stack, 'Other'),
          }),
        'existingDeadLetterQueue: is not where existingQueue sends what fails',
      ],
      [
        'one whose dead-letter queue forgets first',
        (stack) =>
          ingestIn(stack).addSqs('Scores', {
            existingQueue: settled(stack, 'Mine', { retentionPeriod: Duration.days(1) }),
          }),
        'existingQueue: its dead-letter queue keeps messages for 86400 s',
      ],
      [
        'one that it reads already',
        (stack) => {
          const [ingest, existingQueue] = [ingestIn(stack), settled(stack, 'Mine')];
          for (const id of ['A', 'B']) ingest.addSqs(id, { existingQueue });
        },
        'B: existingQueue: is a source of this ingest already',
      ],
      [
        'one that another function reads',
        (stack) => {
          const existingQueue = settled(stack, 'Mine');
          const table = new SafeWritesTable(stack, 'Shared');
          for (const id of ['A', 'B'])
            new OrderedIngest(stack, id, { table, code: anyCode() }).addSqs('Scores', { existingQueue });
        },
        'existingQueue: is read 2 times',
      ],
      [
        'one that its own poison goes to',
        (stack) => {
          const existingQueue = settled(stack, 'Mine');
          ingestIn(stack, { existingFailureQueue: existingQueue }).addSqs('Scores', { existingQueue });
        },
        'Ingest: existingFailureQueue: is what Scores reads',
      ],
    ])('refuses %s', (_, fill, message) => {
      expect(() => templateOf((stack) => void fill(stack))).toThrow(message);
    });
  });

  it('refuses two visibility timeouts', () => {
    const visibilityTimeout = Duration.minutes(5);
    expect(() => withQueue({ visibilityTimeout, queueProps: { visibilityTimeout } })).toThrow(
      'visibilityTimeout: is given together with queueProps.visibilityTimeout',
    );
  });

  it('encrypts a new queue with a key of yours', () => {
    templateOf((stack) => {
      ingestIn(stack).addSqs('Scores', { queueProps: { encryptionMasterKey: new kms.Key(stack, 'Key') } });
    }).hasResourceProperties(queueType, {
      KmsMasterKeyId: { 'Fn::GetAtt': [Match.stringLikeRegexp('^Key'), 'Arn'] },
      SqsManagedSseEnabled: Match.absent(),
    });
  });

  it('refuses a table and a queue of another Region', () => {
    const app = new App();
    const stackIn = (id: string, region: string) => new Stack(app, id, { env: { region, account: '111122223333' } });
    const [here, there] = [stackIn('Here', 'eu-west-1'), stackIn('There', 'us-east-1')];
    const far = new SafeWritesTable(there, 'Far');
    expect(() => ingestIn(here, { table: far })).toThrow(
      'Here/Ingest: table: is in us-east-1, but its function is in eu-west-1',
    );
    const existingQueue = sqs.Queue.fromQueueArn(here, 'Mine', 'arn:aws:sqs:us-east-1:111122223333:mine');
    const ingest = new OrderedIngest(here, 'Near', { table: new SafeWritesTable(here, 'Own'), code: anyCode() });
    const imported = { existingQueue, visibilityTimeout: Duration.minutes(5), retention: Duration.days(4) };
    expect(() => ingest.addSqs('Scores', imported)).toThrow('Scores: existingQueue: is in us-east-1');
    expect(() => ingestIn(stackIn('Third', 'eu-west-1'), { existingFailureQueue: existingQueue })).toThrow(
      'existingFailureQueue: is in us-east-1',
    );
  });
});
