import { RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { TableAction, TransactWriteAction } from './table-action.js';
import { transactWriteActions } from './table-action.js';

/** Settings of a {@link SafeWritesTable}. */
export interface SafeWritesTableProps {
  /**
   * Physical name of the table.
   *
   * @default - CloudFormation makes one up
   */
  readonly tableName?: string;

  /**
   * Attribute that holds the epoch second after which an item may be deleted.
   *
   * @default 'ttl'
   */
  readonly timeToLiveAttribute?: string;

  /**
   * What happens to the table when it leaves the stack.
   *
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;

  /**
   * Whether DynamoDB refuses to delete the table.
   *
   * @default - true, and false with RemovalPolicy.DESTROY, which could not delete it otherwise
   */
  readonly deletionProtection?: boolean;

  /**
   * Whether the table can be restored to any second of the last 35 days.
   *
   * @default true
   */
  readonly pointInTimeRecovery?: boolean;
}

/**
 * The one table of the kit: on-demand, string keys `pk` and `sk`, time to live, and a stream with both images.
 *
 * Its defaults keep the data: point-in-time recovery, deletion protection and RETAIN are on until you turn them off.
 * At rest it costs the storage, and its backups about as much again; the stream is free until it is read.
 *
 * @example
 * ```ts
 * import { App, RemovalPolicy, Stack } from 'aws-cdk-lib';
 * import { SafeWritesTable } from 'safewrites/cdk';
 *
 * const stack = new Stack(new App(), 'Shop');
 * new SafeWritesTable(stack, 'Table');
 * new SafeWritesTable(stack, 'Scratch', { removalPolicy: RemovalPolicy.DESTROY, pointInTimeRecovery: false });
 * ```
 */
export class SafeWritesTable extends Construct {
  /** The DynamoDB table. */
  readonly table: dynamodb.TableV2;

  /** Attribute that holds an item's expiry. */
  readonly timeToLiveAttribute: string;

  constructor(scope: Construct, id: string, props: SafeWritesTableProps = {}) {
    super(scope, id);
    const removalPolicy = props.removalPolicy ?? RemovalPolicy.RETAIN;
    this.timeToLiveAttribute = props.timeToLiveAttribute ?? 'ttl';
    this.table = new dynamodb.TableV2(this, 'Table', {
      ...(props.tableName === undefined ? {} : { tableName: props.tableName }),
      partitionKey: { name: 'pk', type: dynamodb.AttributeType.STRING },
      sortKey: { name: 'sk', type: dynamodb.AttributeType.STRING },
      billing: dynamodb.Billing.onDemand(),
      timeToLiveAttribute: this.timeToLiveAttribute,
      dynamoStream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: props.pointInTimeRecovery ?? true },
      deletionProtection: props.deletionProtection ?? removalPolicy !== RemovalPolicy.DESTROY,
      removalPolicy,
    });
  }

  /**
   * Allows exactly the named actions on the table, and on the indexes that it has by now.
   *
   * CDK's own `grantReadData` and `grantWriteData` are wider (Scan, BatchWriteItem) and yet lack ConditionCheckItem.
   */
  grantActions(grantee: iam.IGrantable, ...actions: TableAction[]): iam.Grant {
    if (actions.length === 0) throw new Error('grantActions: name at least one action, for example "GetItem".');
    return this.table.grant(grantee, ...actions.map((action) => `dynamodb:${action}`));
  }

  /**
   * Allows what the steps of a TransactWriteItems need: DynamoDB has no action of that name, each step needs its own.
   *
   * PutItem, UpdateItem and DeleteItem are then allowed outside a transaction too.
   *
   * @param actions - the steps in use; all four when none is named
   */
  grantTransactWrite(grantee: iam.IGrantable, ...actions: TransactWriteAction[]): iam.Grant {
    return this.grantActions(grantee, ...(actions.length === 0 ? transactWriteActions : actions));
  }
}
