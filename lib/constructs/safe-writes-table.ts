import { RemovalPolicy } from 'aws-cdk-lib/core';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { describeTable, type TableDescription } from './describe-table.js';
import { literalName, refuse, refuseBoth } from './invalid-prop-error.js';
import { ReplicaPromise } from './replica-promise.js';
import { checkStreamReaders } from './stream-readers.js';
import type { TableAction, TransactWriteAction } from './table-action.js';
import { transactWriteActions } from './table-action.js';

/** Settings of a {@link SafeWritesTable}. */
export interface SafeWritesTableProps {
  /**
   * A table that is there already, instead of a new one. What can be read of it is checked: its keys, its time to live,
   * its replicas. Of a table that is imported by name or ARN only its ARNs are known.
   *
   * @default - a new table
   */
  readonly existingTable?: dynamodb.ITable;

  /**
   * Physical name of the table.
   *
   * @default - CloudFormation makes one up
   */
  readonly tableName?: string;

  /**
   * Attribute that holds the epoch second after which an item may be deleted. For an imported table it says that its time
   * to live is on, which nothing else tells.
   *
   * @default 'ttl'; that of `existingTable`
   */
  readonly timeToLiveAttribute?: string;

  /**
   * Attribute that holds the name of an item's entity, as `table({ type })` says it.
   *
   * @default '_type'
   */
  readonly typeAttribute?: string;

  /**
   * The key that the table is encrypted with.
   *
   * @default TableEncryptionV2.dynamoOwnedKey(), which costs nothing
   */
  readonly encryption?: dynamodb.TableEncryptionV2;

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

  /**
   * Copies in other Regions. Refused unless `promisesGivenUp` names each {@link ReplicaPromise}.
   *
   * @default - none
   */
  readonly replicas?: dynamodb.ReplicaTableProps[];

  /**
   * The promises of the kit that you do without, for a table with replicas.
   *
   * @default - none
   */
  readonly promisesGivenUp?: ReplicaPromise[];
}

/** What the key of a table is used for: the actions that AWS names with wildcards, one by one. */
const keyActions = [
  ...['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey', 'kms:GenerateDataKeyWithoutPlaintext'],
  ...['kms:ReEncryptFrom', 'kms:ReEncryptTo'],
];

/** Allows an action as a step of a TransactWriteItems only. */
export const inTransactions = {
  'ForAnyValue:StringEquals': { 'dynamodb:EnclosingOperation': ['TransactWriteItems'] },
};

const propsOfNew = [
  'tableName',
  'encryption',
  'removalPolicy',
  'deletionProtection',
  'pointInTimeRecovery',
  'replicas',
] as const satisfies readonly (keyof SafeWritesTableProps)[];

/**
 * The one table of the kit: on-demand, string keys `pk` and `sk`, time to live, and a stream with both images.
 *
 * Its defaults keep the data: point-in-time recovery, deletion protection and RETAIN are on until you turn them off.
 * At rest it costs the storage, and its backups about as much again; the stream is free until it is read.
 *
 * @example
 * ```ts
 * import { App, RemovalPolicy, Stack, aws_dynamodb as dynamodb } from 'aws-cdk-lib';
 * import { SafeWritesTable } from 'safewrites/cdk';
 *
 * const stack = new Stack(new App(), 'Shop');
 * new SafeWritesTable(stack, 'Table');
 * new SafeWritesTable(stack, 'Scratch', { removalPolicy: RemovalPolicy.DESTROY, pointInTimeRecovery: false });
 * // One that is there already; an imported table doesn't tell which attribute is its time to live.
 * const orders = dynamodb.TableV2.fromTableAttributes(stack, 'Imported', {
 *   tableArn: 'arn:aws:dynamodb:eu-west-1:111122223333:table/orders',
 *   tableStreamArn: 'arn:aws:dynamodb:eu-west-1:111122223333:table/orders/stream/2026-01-01T00:00:00.000',
 * });
 * new SafeWritesTable(stack, 'Orders', { existingTable: orders, timeToLiveAttribute: 'ttl' });
 * ```
 */
export class SafeWritesTable extends Construct {
  /** The DynamoDB table. */
  readonly table: dynamodb.ITable;

  /** The table where this construct made it, to add indexes to. */
  readonly newTable: dynamodb.TableV2 | undefined;

  /** Attribute that holds an item's expiry. */
  readonly timeToLiveAttribute: string;

  /** Attribute that holds the name of an item's entity. */
  readonly typeAttribute: string;

  /** Names of the key attributes; those of an imported table are taken to be `pk` and `sk`. */
  readonly keys: { readonly partitionKey: string; readonly sortKey: string | undefined };

  private readonly streamViewType: dynamodb.StreamViewType | undefined;

  /** Whether the template tells of the table; CDK gives a table of its own a stream's ARN even where it has none. */
  private readonly isKnown: boolean;

  constructor(scope: Construct, id: string, props: SafeWritesTableProps = {}) {
    super(scope, id);
    this.typeAttribute = literalName(this, 'typeAttribute', props.typeAttribute ?? '_type');
    if (props.timeToLiveAttribute !== undefined) literalName(this, 'timeToLiveAttribute', props.timeToLiveAttribute);
    const found = props.existingTable && describeTable(props.existingTable);
    this.isKnown = props.existingTable === undefined || found !== undefined;
    if (props.existingTable === undefined) {
      this.newTable = this.create(props);
      this.table = this.newTable as dynamodb.ITable;
      this.timeToLiveAttribute = props.timeToLiveAttribute ?? 'ttl';
      this.keys = { partitionKey: 'pk', sortKey: 'sk' };
      this.streamViewType = dynamodb.StreamViewType.NEW_AND_OLD_IMAGES;
      this.checkReplicas('replicas', props.replicas?.length ?? 0, props.promisesGivenUp);
    } else {
      for (const name of propsOfNew) refuseBoth(this, { existingTable: props.existingTable, [name]: props[name] });
      this.table = props.existingTable;
      for (const [name, type] of Object.entries(found?.keyTypes ?? {})) {
        if (type !== 'S')
          refuse(this, 'existingTable', `its key ${name} is of type ${type}, but the kit's keys are strings: S`);
      }
      this.keys = { partitionKey: found?.partitionKey ?? 'pk', sortKey: found === undefined ? 'sk' : found.sortKey };
      this.timeToLiveAttribute = this.existingTimeToLive(found, props.timeToLiveAttribute);
      this.streamViewType = found?.streamViewType;
      this.checkReplicas('existingTable', found?.replicas ?? 0, props.promisesGivenUp);
    }
    checkStreamReaders(this, this.table);
  }

  private create(props: SafeWritesTableProps): dynamodb.TableV2 {
    const removalPolicy = props.removalPolicy ?? RemovalPolicy.RETAIN;
    return new dynamodb.TableV2(this, 'Table', {
      ...(props.tableName === undefined ? {} : { tableName: props.tableName }),
      ...(props.encryption === undefined ? {} : { encryption: props.encryption }),
      ...(props.replicas === undefined ? {} : { replicas: props.replicas }),
      partitionKey: { name: 'pk', type: dynamodb.AttributeType.STRING },
      sortKey: { name: 'sk', type: dynamodb.AttributeType.STRING },
      billing: dynamodb.Billing.onDemand(),
      timeToLiveAttribute: props.timeToLiveAttribute ?? 'ttl',
      dynamoStream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: props.pointInTimeRecovery ?? true },
      deletionProtection: props.deletionProtection ?? removalPolicy !== RemovalPolicy.DESTROY,
      removalPolicy,
    });
  }

  private existingTimeToLive(found: TableDescription | undefined, named: string | undefined): string {
    if (found === undefined) {
      return (
        named ??
        refuse(
          this,
          'timeToLiveAttribute',
          'nothing tells whether the imported existingTable has time to live: turn it on there, and name its attribute here',
        )
      );
    }
    const { timeToLive } = found;
    if (timeToLive === undefined) {
      return refuse(
        this,
        'existingTable',
        'has no time to live, so what the kit stores would stay for ever: give it a timeToLiveAttribute',
      );
    }
    if (named !== undefined && named !== timeToLive) {
      return refuse(this, 'timeToLiveAttribute', `is "${named}", but existingTable has "${timeToLive}": leave it out`);
    }
    return timeToLive;
  }

  private checkReplicas(prop: string, replicas: number, givenUp: readonly ReplicaPromise[] = []): void {
    const missing = Object.values(ReplicaPromise).filter((promise) => !givenUp.includes(promise));
    if (replicas === 0 || missing.length === 0) return;
    refuse(
      this,
      prop,
      `a table with replicas can't hold the kit's promises: keep it in one Region, or name those that you give up in promisesGivenUp (missing: ${missing.join(', ')})`,
    );
  }

  /**
   * The ARN of the table's stream, for a function that reads new items.
   *
   * @throws InvalidPropError for a table without stream, and one whose stream doesn't show them
   */
  streamArn(): string {
    const { tableStreamArn } = this.table;
    if (tableStreamArn === undefined || (this.isKnown && this.streamViewType === undefined)) {
      return refuse(
        this,
        'existingTable',
        'has no stream: turn one on with NEW_AND_OLD_IMAGES, and import the table with its tableStreamArn (fromTableAttributes)',
      );
    }
    if (this.streamViewType === dynamodb.StreamViewType.OLD_IMAGE) {
      return refuse(this, 'existingTable', 'its stream shows old images only, so no new item: take NEW_AND_OLD_IMAGES');
    }
    return tableStreamArn;
  }

  /** Whether the table's stream is known to show new images, and so the type of what was written. */
  get streamShowsTypes(): boolean {
    const { NEW_IMAGE, NEW_AND_OLD_IMAGES } = dynamodb.StreamViewType;
    return this.streamViewType === NEW_IMAGE || this.streamViewType === NEW_AND_OLD_IMAGES;
  }

  /**
   * Allows exactly the named actions on the table and, with Query, on the indexes that it has by now.
   *
   * CDK's own `grantReadData` and `grantWriteData` are wider (Scan, BatchWriteItem) and yet lack ConditionCheckItem.
   */
  grantActions(grantee: iam.IGrantable, ...actions: TableAction[]): iam.Grant {
    if (actions.length === 0) throw new Error('grantActions: name at least one action, for example "GetItem".');
    return this.grantOn(grantee, actions, {}, { indexes: true });
  }

  /**
   * Allows what the steps of a TransactWriteItems need, and inside of one only: DynamoDB has no action of that name, each
   * step needs its own.
   *
   * @param actions - the steps in use; all four when none is named
   */
  grantTransactWrite(grantee: iam.IGrantable, ...actions: TransactWriteAction[]): iam.Grant {
    return this.grantOn(grantee, actions.length === 0 ? transactWriteActions : actions, inTransactions, {
      indexes: false,
    });
  }

  /** Allows to read the table's stream. At most two functions may. */
  grantStreamRead(grantee: iam.IGrantable): iam.Grant {
    const actions = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'];
    this.table.encryptionKey?.grantDecrypt(grantee);
    return iam.Grant.addToPrincipal({
      grantee,
      actions: actions.map((action) => `dynamodb:${action}`),
      resourceArns: [this.streamArn()],
    });
  }

  /** Allows actions under conditions, on the table alone or with its indexes. Used by the constructs of the kit. */
  grantOn(
    grantee: iam.IGrantable,
    actions: readonly TableAction[],
    conditions: iam.Conditions,
    { indexes }: { readonly indexes: boolean },
  ): iam.Grant {
    const { tableArn, encryptionKey } = this.table;
    const hasIndex = (this.table as unknown as { readonly hasIndex?: boolean }).hasIndex === true;
    const isOnIndexes = (action: TableAction) => action === 'Query' && indexes && hasIndex;
    const grant = (named: readonly TableAction[], resourceArns: string[]) =>
      iam.Grant.addToPrincipal({
        grantee,
        actions: named.map((action) => `dynamodb:${action}`),
        resourceArns,
        ...(Object.keys(conditions).length === 0
          ? {}
          : { conditions: conditions as Record<string, Record<string, unknown>> }),
      });
    // DynamoDB uses the key in the name of whoever asks.
    encryptionKey?.grant(grantee, ...keyActions);
    const others = actions.filter((action) => !isOnIndexes(action));
    const onTable = others.length === 0 ? undefined : grant(others, [tableArn]);
    if (!actions.some(isOnIndexes)) return onTable!;
    const onIndexes = grant(['Query'], [tableArn, `${tableArn}/index/*`]);
    return onTable === undefined ? onIndexes : onTable.combine(onIndexes);
  }
}
