import { CfnResource } from 'aws-cdk-lib/core';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import { CfnEventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { Construct, IConstruct } from 'constructs';

/** DynamoDB throttles a third reader of a shard, and with it the others. */
const most = 2;

/** What a mapping reads, or a pipe of EventBridge. Pipes are told by their type: their module is slow to load. */
function sourceOf(found: IConstruct): string | undefined {
  if (found instanceof CfnEventSourceMapping) return found.eventSourceArn;
  const isPipe = CfnResource.isCfnResource(found) && found.cfnResourceType === 'AWS::Pipes::Pipe';
  return isPipe ? (found as CfnResource & { readonly source?: string }).source : undefined;
}

/** At synth, when all of them are known: no more than two functions or pipes may read the stream of a table. */
export function checkStreamReaders(scope: Construct, table: dynamodb.ITable): void {
  scope.node.addValidation({
    validate: () => {
      const { tableStreamArn } = table;
      if (tableStreamArn === undefined) return [];
      const readers = scope.node.root.node.findAll().filter((found) => sourceOf(found) === tableStreamArn);
      if (readers.length <= most) return [];
      const paths = readers.map(({ node }) => node.path).join(', ');
      return [
        `${readers.length} functions and pipes read the stream of one table, and a shard takes ${most} readers: let one of them ` +
          `pass the changes on, for example to EventBridge (${paths})`,
      ];
    },
  });
}
