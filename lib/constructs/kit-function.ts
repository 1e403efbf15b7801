import type { RemovalPolicy } from 'aws-cdk-lib';
import { Duration } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

/** Settings that every function of the kit shares. */
export interface KitFunctionOptions {
  /**
   * Memory in MB; CPU grows with it.
   *
   * @default 1024
   */
  readonly memorySize?: number;

  /**
   * Time after which Lambda stops a call.
   *
   * @default Duration.seconds(10)
   */
  readonly timeout?: Duration;

  /**
   * How long logs are kept.
   *
   * @default logs.RetentionDays.ONE_MONTH
   */
  readonly logRetention?: logs.RetentionDays;

  /**
   * What happens to the logs when they leave the stack.
   *
   * @default RemovalPolicy.RETAIN
   */
  readonly logRemovalPolicy?: RemovalPolicy;

  /**
   * X-Ray tracing.
   *
   * @default lambda.Tracing.DISABLED
   */
  readonly tracing?: lambda.Tracing;
}

/** Settings of a {@link KitFunction}. */
export interface KitFunctionProps extends KitFunctionOptions {
  /** What the function does, shown in the console. */
  readonly description: string;

  /** An ES module bundle whose `index.mjs` exports `handler`. */
  readonly code: lambda.Code;

  /** Environment variables. */
  readonly environment: Record<string, string>;
}

/** A Node 24 function on ARM with JSON logs in a group of its own, and a role that may write only to that group. */
export class KitFunction extends Construct {
  /** The Lambda function. */
  readonly function: lambda.Function;

  /** Its log group. */
  readonly logGroup: logs.LogGroup;

  /** Its role. */
  readonly role: iam.Role;

  constructor(scope: Construct, id: string, props: KitFunctionProps) {
    super(scope, id);
    this.logGroup = new logs.LogGroup(this, 'Logs', {
      retention: props.logRetention ?? logs.RetentionDays.ONE_MONTH,
      ...(props.logRemovalPolicy === undefined ? {} : { removalPolicy: props.logRemovalPolicy }),
    });
    // Instead of the managed AWSLambdaBasicExecutionRole, which may write to every log group of the account.
    this.role = new iam.Role(this, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
    this.logGroup.grantWrite(this.role);
    this.function = new lambda.Function(this, 'Function', {
      description: props.description,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      code: props.code,
      handler: 'index.handler',
      memorySize: props.memorySize ?? 1024,
      timeout: props.timeout ?? Duration.seconds(10),
      environment: { NODE_OPTIONS: '--enable-source-maps', ...props.environment },
      loggingFormat: lambda.LoggingFormat.JSON,
      logGroup: this.logGroup,
      role: this.role,
      tracing: props.tracing ?? lambda.Tracing.DISABLED,
    });
  }
}
