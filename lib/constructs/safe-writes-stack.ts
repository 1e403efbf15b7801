import type { RemovalPolicy, StackProps } from 'aws-cdk-lib';
import { CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { bundledCode } from './bundled-code.js';
import { IdempotentEndpoint } from './idempotent-endpoint.js';
import type { KitFunctionOptions } from './kit-function.js';
import type { SafeWritesTableProps } from './safe-writes-table.js';
import { SafeWritesTable } from './safe-writes-table.js';

/** Settings of a {@link SafeWritesStack}. */
export interface SafeWritesStackProps extends StackProps {
  /**
   * What happens to the table and the logs when they leave the stack.
   *
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;

  /**
   * Further settings of the table.
   *
   * @default - those of SafeWritesTable
   */
  readonly tableProps?: SafeWritesTableProps;

  /**
   * Settings of the functions.
   *
   * @default - those of each function
   */
  readonly functionProps?: KitFunctionOptions;
}

/**
 * The deployable app: one table, and the sample charge behind `POST /charges`.
 *
 * @example
 * ```ts
 * import { App, RemovalPolicy } from 'aws-cdk-lib';
 * import { SafeWritesStack } from 'safewrites/cdk';
 *
 * new SafeWritesStack(new App(), 'SafeWrites-try', { removalPolicy: RemovalPolicy.DESTROY });
 * ```
 */
export class SafeWritesStack extends Stack {
  /** The table that everything is written to. */
  readonly table: SafeWritesTable;

  /** The charge's endpoint. */
  readonly charge: IdempotentEndpoint;

  constructor(scope: Construct, id: string, props: SafeWritesStackProps = {}) {
    const { removalPolicy, tableProps, functionProps, ...stackProps } = props;
    super(scope, id, stackProps);
    this.table = new SafeWritesTable(this, 'Table', {
      ...(removalPolicy === undefined ? {} : { removalPolicy }),
      ...tableProps,
    });
    this.charge = new IdempotentEndpoint(this, 'Charge', {
      ...(removalPolicy === undefined ? {} : { logRemovalPolicy: removalPolicy }),
      ...functionProps,
      table: this.table,
      code: bundledCode('charge'),
      path: '/charges',
      description: 'Charges a customer once per Idempotency-Key',
    });

    new CfnOutput(this, 'TableName', { value: this.table.table.tableName, description: 'The DynamoDB table' });
    new CfnOutput(this, 'ChargesUrl', {
      value: `${this.charge.api.apiEndpoint}/charges`,
      description: 'POST here, signed with IAM credentials that may execute-api:Invoke',
    });
  }
}
