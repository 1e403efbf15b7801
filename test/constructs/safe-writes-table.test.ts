import { RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import type { TableAction, TransactWriteAction } from '../../lib/constructs/index.js';
import { SafeWritesTable } from '../../lib/constructs/index.js';
import { statementsOf, templateOf } from './synth.js';

const tableType = 'AWS::DynamoDB::GlobalTable';

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

  it('grants the named steps of a transaction and nothing else', () => {
    const steps: TransactWriteAction[] = ['PutItem', 'ConditionCheckItem'];
    expect(granted((table, role) => table.grantTransactWrite(role, ...steps))).toEqual([
      expect.objectContaining({
        Action: ['dynamodb:PutItem', 'dynamodb:ConditionCheckItem'],
        Effect: 'Allow',
        Resource: { 'Fn::GetAtt': [expect.stringMatching(/^Table/), 'Arn'] },
      }),
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

  it('grants single actions, and refuses a grant of none', () => {
    const action: TableAction = 'Query';
    expect(granted((table, role) => table.grantActions(role, action))).toMatchObject([{ Action: 'dynamodb:Query' }]);
    expect(() => granted((table, role) => table.grantActions(role))).toThrow('name at least one action');
  });

  it('covers the indexes when the table has some', () => {
    const [statement] = granted((table, role) => {
      table.table.addGlobalSecondaryIndex({
        indexName: 'byOwner',
        partitionKey: { name: 'owner', type: dynamodb.AttributeType.STRING },
      });
      table.grantActions(role, 'Query');
    });
    expect(JSON.stringify(statement?.Resource)).toContain('/index/*');
  });
});
