const userId = 'AROAEXAMPLE:session';
const iam = {
  accountId: '111122223333',
  callerId: userId,
  userId,
  userArn: 'arn:aws:sts::111122223333:assumed-role/a/b',
};

/** A charge through an HTTP API, payload format 2.0. */
export const chargeEvent = (key, amount, customerId = 'alice') => ({
  version: '2.0',
  routeKey: 'POST /charges',
  rawPath: '/charges',
  rawQueryString: '',
  headers: { 'content-type': 'application/json', 'idempotency-key': key },
  requestContext: { http: { method: 'POST' }, stage: '$default', requestId: 'r', authorizer: { iam } },
  body: JSON.stringify({ customerId, amount, currency: 'EUR' }),
  isBase64Encoded: false,
});

const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 3_600_000;

/** Scores of matches, as a batch of a standard queue. */
export const stateEvent = (states) => ({
  Records: states.map(({ key, n }, i) => ({
    messageId: `m${i}`,
    receiptHandle: 'r',
    body: JSON.stringify({
      type: 'score',
      matchId: key,
      home: n,
      away: 0,
      at: new Date(hour + n * 1000).toISOString(),
    }),
    attributes: { ApproximateReceiveCount: '1', SentTimestamp: String(hour) },
    messageAttributes: {},
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:eu-west-1:111122223333:q',
  })),
});

/** The same from Kafka: all of a topic's one partition. Without `n` it is a tombstone of the second `at`. */
export const kafkaEvent = (states) => ({
  eventSource: 'aws:kafka',
  eventSourceArn: 'arn:aws:kafka:eu-west-1:111122223333:cluster/bench/1',
  bootstrapServers: 'b-1.bench.example:9092',
  records: {
    'scores-0': states.map(({ key, n, at = n }, offset) => {
      const happened = new Date(hour + at * 1000).toISOString();
      const value = n === undefined ? undefined : { type: 'score', matchId: key, home: n, away: 0, at: happened };
      return {
        topic: 'scores',
        partition: 0,
        offset,
        timestamp: hour,
        timestampType: 'CREATE_TIME',
        key: Buffer.from(key).toString('base64'),
        value: value && Buffer.from(JSON.stringify(value)).toString('base64'),
        headers: [{ 'occurred-at': [...Buffer.from(happened)] }],
      };
    }),
  },
});
