import type { Stack } from 'aws-cdk-lib';
import { RemovalPolicy, Token } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import type { SafeWritesTableProps, TableAction, TransactWriteAction } from '../../lib/constructs/index.js';
import { IdempotentEndpoint, ReplicaPromise, SafeWritesTable } from '../../lib/constructs/index.js';
import { allowedIn, statementsOf, templateOf } from './synth.js';

const tableType = 'AWS::DynamoDB::GlobalTable';
const env = { env: { region: 'eu-west-1', account: '111122223333' } };

describe('SafeWritesTable', () => {
  it('is on demand, with string keys, time to live, a stream of both images and point-in-time recovery', () => {
    const template = templateOf((stack) => new SafeWritesTable(stack, 'Table'));
    template.resourceCountIs(tableType, 1);
    template.hasResourceProperties(tableType, {
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
      TableName: Match.absent(),
      Replicas: [
        {
          Region: { Ref: 'AWS::Region' },
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        },
      ],
    });
  });

  it('keeps the data when it leaves the stack', () => {
    const template = templateOf((stack) => new SafeWritesTable(stack, 'Table'));
    template.hasResource(tableType, { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  });

  it('drops deletion protection with RemovalPolicy.DESTROY, which it would defeat', () => {
    const template = templateOf(
      (stack) => new SafeWritesTable(stack, 'Table', { removalPolicy: RemovalPolicy.DESTROY }),
    );
    template.hasResource(tableType, {
      DeletionPolicy: 'Delete',
      Properties: { Replicas: [Match.objectLike({ DeletionProtectionEnabled: false })] },
    });
  });

  it('takes a name, another expiry attribute, and each safeguard off', () => {
    let table: SafeWritesTable | undefined;
    const template = templateOf((stack) => {
      table = new SafeWritesTable(stack, 'Table', {
        tableName: 'shop',
        timeToLiveAttribute: 'expiresAt',
        deletionProtection: false,
        pointInTimeRecovery: false,
      });
    });
    expect(table?.timeToLiveAttribute).toBe('expiresAt');
    template.hasResourceProperties(tableType, {
      TableName: 'shop',
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      Replicas: [
        Match.objectLike({
          DeletionProtectionEnabled: false,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false },
        }),
      ],
    });
  });

  const granted = (grant: (table: SafeWritesTable, role: iam.Role) => void) =>
    statementsOf(
      templateOf((stack) => {
        const role = new iam.Role(stack, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
        grant(new SafeWritesTable(stack, 'Table'), role);
      }),
    );

  it('grants the named steps, in transactions and nowhere else', () => {
    const steps: TransactWriteAction[] = ['PutItem', 'UpdateItem'];
    expect(granted((table, role) => table.grantTransactWrite(role, ...steps))).toEqual([
      {
        Action: ['dynamodb:PutItem', 'dynamodb:UpdateItem'],
        Effect: 'Allow',
        Resource: { 'Fn::GetAtt': [expect.stringMatching(/^Table/), 'Arn'] },
        Condition: { 'ForAnyValue:StringEquals': { 'dynamodb:EnclosingOperation': ['TransactWriteItems'] } },
      },
    ]);
  });

  it('grants the four steps where none is named', () => {
    const [statement] = granted((table, role) => table.grantTransactWrite(role));
    expect(statement?.Action).toEqual([
      'dynamodb:ConditionCheckItem',
      'dynamodb:DeleteItem',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
    ]);
  });

  it('grants the use of its own key with its items', () => {
    const template = templateOf((stack) => {
      const role = new iam.Role(stack, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
      const encryption = dynamodb.TableEncryptionV2.customerManagedKey(new kms.Key(stack, 'Key'));
      new SafeWritesTable(stack, 'Table', { encryption }).grantActions(role, 'GetItem');
    }, env);
    template.hasResourceProperties(tableType, { SSESpecification: { SSEEnabled: true, SSEType: 'KMS' } });
    expect(allowedIn(template)).toEqual([
      'dynamodb:GetItem on Table.Arn',
      'kms:Decrypt,kms:DescribeKey,kms:Encrypt,kms:GenerateDataKey,kms:GenerateDataKeyWithoutPlaintext,kms:ReEncryptFrom,kms:ReEncryptTo on Key.Arn',
    ]);
  });

  it('grants single actions, and refuses a grant of none', () => {
    const action: TableAction = 'Query';
    expect(granted((table, role) => table.grantActions(role, action))).toMatchObject([{ Action: 'dynamodb:Query' }]);
    expect(() => granted((table, role) => table.grantActions(role))).toThrow('name at least one action');
  });

  it('covers the indexes with queries, when the table has some', () => {
    const template = templateOf((stack) => {
      const role = new iam.Role(stack, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
      const table = new SafeWritesTable(stack, 'Table');
      table.newTable!.addGlobalSecondaryIndex({
        indexName: 'byOwner',
        partitionKey: { name: 'owner', type: dynamodb.AttributeType.STRING },
      });
      table.grantActions(role, 'Query', 'PutItem');
    });
    expect(allowedIn(template)).toEqual([
      'dynamodb:PutItem on Table.Arn',
      'dynamodb:Query on Table.Arn,Table.Arn/index/*',
    ]);
  });
});

describe('SafeWritesTable over a table that is there already', () => {
  const keys = {
    partitionKey: { name: 'pk', type: dynamodb.AttributeType.STRING },
    sortKey: { name: 'sk', type: dynamodb.AttributeType.STRING },
  };
  const over = (existing: (stack: Stack) => unknown, props: SafeWritesTableProps = {}) => {
    let table: SafeWritesTable | undefined;
    const template = templateOf((stack) => {
      table = new SafeWritesTable(stack, 'Over', { existingTable: existing(stack) as dynamodb.ITable, ...props });
    });
    return { template, table: table! };
  };
  const stream = dynamodb.StreamViewType.NEW_IMAGE;

  it.each<[string, (stack: Stack) => unknown]>([
    [
      'TableV2',
      (stack) => new dynamodb.TableV2(stack, 'Mine', { ...keys, timeToLiveAttribute: 'gone', dynamoStream: stream }),
    ],
    ['Table', (stack) => new dynamodb.Table(stack, 'Mine', { ...keys, timeToLiveAttribute: 'gone', stream })],
  ])('reads keys, time to live and stream of a %s', (_, existing) => {
    const { template, table } = over(existing);
    expect(table.timeToLiveAttribute).toBe('gone');
    expect(table.keys).toEqual({ partitionKey: 'pk', sortKey: 'sk' });
    expect(table.streamShowsTypes).toBe(true);
    expect(table.newTable).toBeUndefined();
    expect([
      ...Object.keys(template.findResources(tableType)),
      ...Object.keys(template.findResources('AWS::DynamoDB::Table')),
    ]).toHaveLength(1);
  });

  const imported = (stack: Stack) => dynamodb.TableV2.fromTableName(stack, 'Mine', 'orders');

  it('takes the word for an imported one', () => {
    expect(over(imported, { timeToLiveAttribute: 'gone' }).table.timeToLiveAttribute).toBe('gone');
    expect(() => over(imported)).toThrow(
      'Over: timeToLiveAttribute: nothing tells whether the imported existingTable has time to live',
    );
    expect(() => over(imported, { timeToLiveAttribute: 'ttl' }).table.streamArn()).toThrow(
      'existingTable: has no stream',
    );
  });

  it.each<[string, (stack: Stack) => unknown, SafeWritesTableProps, string]>([
    [
      'one without time to live',
      (stack) => new dynamodb.TableV2(stack, 'Mine', keys),
      {},
      'existingTable: has no time to live',
    ],
    [
      'another attribute',
      (stack) => new dynamodb.TableV2(stack, 'Mine', { ...keys, timeToLiveAttribute: 'a' }),
      { timeToLiveAttribute: 'b' },
      'timeToLiveAttribute: is "b", but existingTable has "a"',
    ],
    [
      'settings of a new one',
      imported,
      { tableName: 'x', timeToLiveAttribute: 'ttl' },
      'existingTable: is given together with tableName',
    ],
    [
      'encryption of a new one',
      imported,
      { encryption: dynamodb.TableEncryptionV2.awsManagedKey(), timeToLiveAttribute: 'ttl' },
      'existingTable: is given together with encryption',
    ],
  ])('refuses %s', (_, existing, props, message) => {
    expect(() => over(existing, props)).toThrow(message);
  });

  it('is refused by the functions that the package ships where its names are others', () => {
    expect(() =>
      templateOf((stack) => {
        const table = new SafeWritesTable(stack, 'Table', { timeToLiveAttribute: 'expiresAt' });
        new IdempotentEndpoint(stack, 'Charge', { table });
      }),
    ).toThrow(
      'Charge: table: its timeToLive attribute is "expiresAt", but the function that the package ships uses "ttl"',
    );
  });
});

describe('SafeWritesTable with replicas', () => {
  const replicated = (promisesGivenUp?: ReplicaPromise[]) =>
    templateOf((stack) => {
      new SafeWritesTable(stack, 'Table', {
        replicas: [{ region: 'eu-central-1' }],
        ...(promisesGivenUp && { promisesGivenUp }),
      });
    }, env);

  it('is refused, unless each promise is given up by name', () => {
    expect(() => replicated()).toThrow('Table: replicas: a table with replicas');
    expect(() => replicated([ReplicaPromise.EVENTS])).toThrow('(missing: conditions, transactions, versions)');
    replicated(Object.values(ReplicaPromise)).hasResourceProperties(tableType, {
      Replicas: Match.arrayWith([Match.objectLike({ Region: 'eu-central-1' })]),
    });
  });

  it('is refused where it is there already', () => {
    expect(() =>
      templateOf((stack) => {
        const existingTable = new dynamodb.TableV2(stack, 'Mine', {
          partitionKey: { name: 'pk', type: dynamodb.AttributeType.STRING },
          timeToLiveAttribute: 'ttl',
          replicas: [{ region: 'eu-central-1' }],
        }) as dynamodb.ITable;
        new SafeWritesTable(stack, 'Over', { existingTable });
      }, env),
    ).toThrow('Over: existingTable: a table with replicas');
  });
});

describe('names that others are derived from', () => {
  it.each<[string, SafeWritesTableProps, string]>([
    ['typeAttribute', { typeAttribute: Token.asString({ Ref: 'Name' }) }, 'typeAttribute: is known only at deploy'],
    ['typeAttribute', { typeAttribute: '' }, 'typeAttribute: is empty'],
    [
      'timeToLiveAttribute',
      { timeToLiveAttribute: Token.asString({ Ref: 'N' }) },
      'timeToLiveAttribute: is known only',
    ],
  ])('are refused as tokens, and empty: %s', (_, props, message) => {
    expect(() => templateOf((stack) => new SafeWritesTable(stack, 'Table', props))).toThrow(message);
  });

  it('are those of string keys', () => {
    expect(() =>
      templateOf((stack) => {
        const existingTable = new dynamodb.TableV2(stack, 'Mine', {
          partitionKey: { name: 'pk', type: dynamodb.AttributeType.NUMBER },
          sortKey: { name: 'sk', type: dynamodb.AttributeType.STRING },
          timeToLiveAttribute: 'ttl',
        }) as dynamodb.ITable;
        new SafeWritesTable(stack, 'Over', { existingTable });
      }),
    ).toThrow('Over: existingTable: its key pk is of type N');
  });
});
