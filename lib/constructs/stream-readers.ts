import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import { CfnEventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';

/** DynamoDB throttles a third reader of a shard, and with it the others. */
const most = 2;

/** At synth, when all of them are known: no more than two functions may read the stream of a table. */
export function checkStreamReaders(scope: Construct, table: dynamodb.ITable): void {
  scope.node.addValidation({
    validate: () => {
      const { tableStreamArn } = table;
      if (tableStreamArn === undefined) return [];
      const readers = scope.node.root.node
        .findAll()
        .filter((found) => found instanceof CfnEventSourceMapping)
        .filter(({ eventSourceArn }) => eventSourceArn === tableStreamArn);
      if (readers.length <= most) return [];
      const paths = readers.map(({ node }) => node.path).join(', ');
      return [
        `${readers.length} functions read the stream of one table, and a shard takes ${most} readers: let one of them ` +
          `pass the changes on, for example to EventBridge (${paths})`,
      ];
    },
  });
}
