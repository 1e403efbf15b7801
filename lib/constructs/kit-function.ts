import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import type { Duration } from 'aws-cdk-lib/core';
import { RemovalPolicy, Stack, Token } from 'aws-cdk-lib/core';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { BundlingOptions } from 'aws-cdk-lib/aws-lambda-nodejs';
import { NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.js';
import { bundledCode, bundledNaming, type BundledFunction } from './bundled-code.js';
import {
  inSeconds,
  literalText,
  refuse,
  refuseBoth,
  refuseOtherRegion,
  secondsOf,
  wholeNumber,
} from './invalid-prop-error.js';
import { checkTimeToLive, leadingKeyOf, type EntityShape } from './key-shapes.js';
import { inTransactions, type SafeWritesTable } from './safe-writes-table.js';
import type { TableAction, TableActions, TransactWriteAction } from './table-action.js';

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
   * @default Duration.seconds(10) for an endpoint, Duration.seconds(30) for an ingest, Duration.seconds(60) for a relay
   */
  readonly timeout?: Duration;

  /**
   * Calls that may run at once. They are set aside from those of the account, and more are refused.
   *
   * @default - those that the account has left
   */
  readonly reservedConcurrentExecutions?: number;

  /**
   * The group that the function logs to, instead of one of its own.
   *
   * @default - a new group
   */
  readonly existingLogGroup?: logs.ILogGroup;

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
   * X-Ray tracing. A trace costs $5 per million, of 1 in 20 calls by X-Ray's own sampling.
   *
   * @default lambda.Tracing.ACTIVE
   */
  readonly tracing?: lambda.Tracing;

  /**
   * A Node runtime from 22 on. The functions that the package ships are built for 24.
   *
   * @default lambda.Runtime.NODEJS_24_X
   */
  readonly runtime?: lambda.Runtime;
}

/** A handler of yours in place of the one that the package ships. */
export interface OwnHandlerOptions {
  /**
   * A bundle whose `index.mjs`, or `index.js`, exports `handler`.
   *
   * @default - the function that the package ships
   */
  readonly code?: lambda.Code;

  /**
   * A source file that exports `handler`. It is bundled at synth, with the SDK inside, by the `esbuild` of your project.
   *
   * @default - the function that the package ships
   */
  readonly entry?: string;

  /**
   * How `entry` is bundled.
   *
   * @default - an ES module for Node 24, minified, with source map
   */
  readonly bundling?: BundlingOptions;

  /**
   * The lock file of the project of `entry`, whose folder holds it.
   *
   * @default - the one found above the working directory
   */
  readonly depsLockFilePath?: string;

  /**
   * Environment variables beside those that the construct sets.
   *
   * @default - none
   */
  readonly environment?: Record<string, string>;

  /**
   * Actions on the table that your handler uses, beside or instead of what the construct allows; see its own default.
   *
   * @default - those of the function that the package ships
   */
  readonly tableActions?: TableAction[];

  /**
   * Actions on the table that your handler uses as steps of a TransactWriteItems only.
   *
   * @default - those of the function that the package ships
   */
  readonly transactWriteActions?: TransactWriteAction[];

  /**
   * The entities that your handler reads and writes, for `limitToLeadingKeys`, and to check where their time to live is
   * stored. Made by `entity()`; importing them loads no SDK.
   *
   * @default - those of the function that the package ships
   */
  readonly entities?: EntityShape[];

  /**
   * Whether the function may touch only items whose partition keys begin as its entities' do, by the condition
   * `dynamodb:LeadingKeys`. How it applies to the steps of a transaction is not documented by AWS: try it there first.
   *
   * @default false
   */
  readonly limitToLeadingKeys?: boolean;
}

/** Settings of a {@link KitFunction}. */
export interface KitFunctionProps extends KitFunctionOptions, OwnHandlerOptions {
  /** The table that it works on. */
  readonly table: SafeWritesTable;

  /** The function that the package ships for it. */
  readonly bundled: BundledFunction;

  /** What the function does, shown in the console. */
  readonly description: string;

  /** Environment variables that the construct sets. */
  readonly derivedEnvironment: Record<string, string>;

  readonly defaultTimeout: Duration;

  /** The longest timeout that its source leaves it, in seconds, and why. */
  readonly longestTimeout?: { readonly seconds: number; readonly why: string };

  /** What it may do with the table where nothing else is said. */
  readonly defaultActions: TableActions;

  /** Partition keys that the kit itself stores for it. */
  readonly kitKeys: readonly string[];
}

/** Why rules about asynchronous calls don't apply. */
export const calledSynchronously = {
  'Serverless-LambdaDLQ': 'Nothing calls it asynchronously: its source waits for its answer, and keeps what failed.',
};

/** A Node 24 function on ARM with JSON logs in a group of its own, and a role that may do what it needs and no more. */
export class KitFunction extends Construct {
  /** The Lambda function. */
  readonly function: lambda.Function;

  /** Its log group. */
  readonly logGroup: logs.ILogGroup;

  /** Its role. */
  readonly role: iam.Role;

  /** Its timeout, in seconds. */
  readonly timeoutSeconds: number;

  constructor(scope: Construct, id: string, props: KitFunctionProps) {
    super(scope, id);
    const { table } = props;
    if ((table as SafeWritesTable | undefined) === undefined)
      refuse(scope, 'table', 'is missing: give it a SafeWritesTable');
    refuseOtherRegion(scope, 'table', table.table);
    const isOwn = props.code !== undefined || props.entry !== undefined;
    this.timeoutSeconds = this.checkTimeout(scope, props);
    const runtime = this.checkRuntime(scope, props.runtime ?? lambda.Runtime.NODEJS_24_X, isOwn);
    this.checkEnvironment(scope, props);
    if (!isOwn) this.checkNaming(scope, table);
    for (const entity of props.entities ?? []) checkTimeToLive(scope, entity, table.timeToLiveAttribute);

    for (const name of ['logRetention', 'logRemovalPolicy'] as const) {
      refuseBoth(scope, { existingLogGroup: props.existingLogGroup, [name]: props[name] });
    }
    this.logGroup =
      props.existingLogGroup ??
      new logs.LogGroup(this, 'Logs', {
        retention: props.logRetention ?? logs.RetentionDays.ONE_MONTH,
        removalPolicy: props.logRemovalPolicy ?? RemovalPolicy.RETAIN,
      });
    // Instead of the managed AWSLambdaBasicExecutionRole, which may write to every log group of the account.
    this.role = new iam.Role(this, 'Role', { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') });
    this.logGroup.grantWrite(this.role);

    const tracing = props.tracing ?? lambda.Tracing.ACTIVE;
    this.function = this.create(scope, props, {
      description: props.description,
      runtime,
      architecture: lambda.Architecture.ARM_64,
      memorySize: this.memory(scope, props.memorySize ?? 1024),
      timeout: props.timeout ?? props.defaultTimeout,
      environment: {
        NODE_OPTIONS: '--enable-source-maps',
        ...props.environment,
        TABLE_NAME: table.table.tableName,
        ...props.derivedEnvironment,
      },
      loggingFormat: lambda.LoggingFormat.JSON,
      logGroup: this.logGroup,
      role: this.role,
      tracing,
      ...(props.reservedConcurrentExecutions === undefined
        ? {}
        : {
            reservedConcurrentExecutions: wholeNumber(
              scope,
              'reservedConcurrentExecutions',
              props.reservedConcurrentExecutions,
              1,
              100_000,
            ),
          }),
    });
    this.grantTable(scope, props, isOwn);

    acknowledge(this.role, {
      'AwsSolutions-IAM5[Resource::*]':
        'Only for xray:PutTraceSegments and xray:PutTelemetryRecords, and the network interfaces of Kafka pollers: they take no resource.',
    });
    acknowledge(this.function, calledSynchronously);
  }

  private checkTimeout(scope: Construct, { timeout, defaultTimeout, longestTimeout }: KitFunctionProps): number {
    const seconds = secondsOf(scope, 'timeout', timeout ?? defaultTimeout);
    const { seconds: longest, why } = longestTimeout ?? { seconds: 900, why: 'Lambda stops every call then' };
    if (seconds < 1 || seconds > longest) {
      return refuse(
        scope,
        'timeout',
        `is ${inSeconds(seconds)}, but must be from 1 s to ${inSeconds(longest)}: ${why}`,
      );
    }
    return seconds;
  }

  private memory(scope: Construct, megabytes: number): number {
    // What depends on it is known to Lambda only.
    return Token.isUnresolved(megabytes) ? megabytes : wholeNumber(scope, 'memorySize', megabytes, 128, 10_240);
  }

  private checkRuntime(scope: Construct, runtime: lambda.Runtime, isOwn: boolean): lambda.Runtime {
    const version = Number(/^nodejs(\d+)\.x$/.exec(literalText(scope, 'runtime', runtime.name))?.[1] ?? Number.NaN);
    if (!isOwn && version !== 24) {
      return refuse(
        scope,
        'runtime',
        `is ${runtime.name}, but the function that the package ships is built for nodejs24.x: leave it out, or bring code of your own`,
      );
    }
    if (!(version >= 22))
      return refuse(scope, 'runtime', `is ${runtime.name}, but safewrites runs on nodejs22.x and later`);
    return runtime;
  }

  private checkEnvironment(scope: Construct, { environment = {}, derivedEnvironment }: KitFunctionProps): void {
    const unnameable = Object.keys(environment).find((name) => !/^[A-Za-z]\w+$/.test(name));
    if (unnameable !== undefined) {
      refuse(
        scope,
        'environment',
        `"${unnameable}" can't be the name of a variable: Lambda takes letters, digits and underscores, two at least, a letter first`,
      );
    }
    const taken = Object.keys(environment).find((name) => name === 'TABLE_NAME' || name in derivedEnvironment);
    if (taken !== undefined) {
      refuse(
        scope,
        'environment',
        `${taken} is set by the construct from its other props: take it out, or change those`,
      );
    }
  }

  /** The functions that the package ships look for the names that the library uses by default. */
  private checkNaming(scope: Construct, { keys, timeToLiveAttribute, typeAttribute }: SafeWritesTable): void {
    const names = { ...keys, timeToLive: timeToLiveAttribute, type: typeAttribute };
    for (const [name, wanted] of Object.entries(bundledNaming)) {
      const found = names[name as keyof typeof names];
      if (found === wanted) continue;
      refuse(
        scope,
        'table',
        `its ${name} attribute is ${found === undefined ? 'absent' : `"${found}"`}, but the function that the package ships uses "${wanted}": ` +
          'bring code of your own, with that name given to table()',
      );
    }
  }

  private create(
    scope: Construct,
    props: KitFunctionProps,
    options: lambda.FunctionOptions & { runtime: lambda.Runtime },
  ) {
    const { code, entry, bundling, depsLockFilePath } = props;
    refuseBoth(scope, { code, entry });
    if (entry === undefined) {
      for (const [name, value] of Object.entries({ bundling, depsLockFilePath })) {
        if (value !== undefined) refuse(scope, name, 'is about entry, which is not given: leave it out');
      }
      return new lambda.Function(this, 'Function', {
        ...options,
        code: code ?? bundledCode(props.bundled.name),
        handler: 'index.handler',
      });
    }
    checkFile(scope, 'entry', entry);
    if (!/\.(jsx?|tsx?|cjs|cts|mjs|mts)$/.test(entry))
      refuse(scope, 'entry', 'must be a file of JavaScript or TypeScript, such as handler.ts');
    if (depsLockFilePath !== undefined) checkFile(scope, 'depsLockFilePath', depsLockFilePath);
    if (bundling?.forceDockerBundling !== true && Stack.of(this).bundlingRequired)
      this.checkBundler(scope, depsLockFilePath);
    return new NodejsFunction(this, 'Function', {
      ...options,
      entry: resolve(entry),
      ...(depsLockFilePath === undefined ? {} : { depsLockFilePath, projectRoot: dirname(resolve(depsLockFilePath)) }),
      bundling: {
        format: OutputFormat.ESM,
        mainFields: ['module', 'main'],
        target: options.runtime.name.replace(/^nodejs(\d+)\.x$/, 'node$1'),
        minify: true,
        sourceMap: true,
        sourcesContent: false,
        // The runtime's own SDK differs by Region and starts slower.
        externalModules: [],
        bundleAwsSDK: true,
        // CommonJS that is bundled into an ES module may still require a module of Node.
        banner:
          "import{createRequire as __safewritesRequire}from'node:module';const require=__safewritesRequire(import.meta.url);",
        ...bundling,
      },
    });
  }

  /** Without esbuild the CDK would look for docker, and fail where there is none without saying why. */
  private checkBundler(scope: Construct, depsLockFilePath = 'package-lock.json'): void {
    try {
      createRequire(resolve(depsLockFilePath)).resolve('esbuild');
    } catch {
      refuse(
        scope,
        'entry',
        'bundling needs esbuild: npm install --save-dev esbuild, or give code, or bundling with forceDockerBundling',
      );
    }
  }

  private grantTable(scope: Construct, props: KitFunctionProps, isOwn: boolean): void {
    const { table, defaultActions } = props;
    const actions = props.tableActions ?? defaultActions.actions ?? [];
    const transactWrite = (props.transactWriteActions ?? defaultActions.transactWrite ?? []).filter(
      // Allowed anywhere, it is allowed there.
      (action) => !actions.includes(action),
    );
    const leadingKeys = this.leadingKeys(scope, props, isOwn);
    // The functions that the package ships query no index.
    const where = { indexes: isOwn };
    if (actions.length > 0) table.grantOn(this.role, actions, leadingKeys, where);
    if (transactWrite.length > 0) {
      table.grantOn(this.role, transactWrite, { ...inTransactions, ...leadingKeys }, where);
    }
  }

  private leadingKeys(scope: Construct, props: KitFunctionProps, isOwn: boolean): iam.Conditions {
    if (props.limitToLeadingKeys !== true) return {};
    const { entities = [] } = props;
    if (isOwn && entities.length === 0) {
      refuse(scope, 'limitToLeadingKeys', 'name the entities that your handler reads and writes in entities');
    }
    const keys = isOwn
      ? [...entities.map((entity) => leadingKeyOf(scope, entity)), ...props.kitKeys]
      : props.bundled.leadingKeys;
    return { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...new Set(keys)].sort() } };
  }
}

/** A path is seen from the working directory, which is another one for each way to start the app. */
function checkFile(scope: Construct, prop: string, path: string): void {
  if (statSync(resolve(path), { throwIfNoEntry: false })?.isFile() === true) return;
  refuse(
    scope,
    prop,
    `there is no file ${path}, seen from the working directory: say where it is from the file that names it, such as join(import.meta.dirname, 'handler.ts')`,
  );
}
