import type { ReadRecord } from './stream-reader.js';

/** A record as Lambda's event shows it (https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html). */
export function lambdaStreamRecord({ userIdentity, ...record }: ReadRecord, streamArn: string) {
  return {
    ...record,
    ...(userIdentity === undefined
      ? {}
      : { userIdentity: { type: userIdentity.Type, principalId: userIdentity.PrincipalId } }),
    eventSourceARN: streamArn,
  };
}

/** A record in an event. */
export type LambdaStreamRecord = ReturnType<typeof lambdaStreamRecord>;
