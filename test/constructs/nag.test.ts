import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack, Validations } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as kms from 'aws-cdk-lib/aws-kms';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { acknowledge } from '../../lib/constructs/acknowledge.js';
import {
  EndpointAuthorization,
  IdempotentEndpoint,
  OrderedIngest,
  OutboxRelay,
  SafeWritesStack,
  SafeWritesTable,
} from '../../lib/constructs/index.js';
import { buildLambdas } from '../../scripts/build-lambdas.mjs';
import { anyCode } from './synth.js';

// Recorded, and passed on where a test says so.
const recorded: { scope: IConstruct; reasons: Readonly<Record<string, string>> }[] = [];
let passOn = true;
vi.mock('../../lib/constructs/acknowledge.js', async (original) => {
  const actual = await original<{ acknowledge: typeof acknowledge }>();
  return {
    acknowledge: (scope: IConstruct, reasons: Readonly<Record<string, string>>) => {
      recorded.push({ scope, reasons });
      if (passOn) actual.acknowledge(scope, reasons);
    },
  };
});

interface Finding {
  readonly rule: string;
  readonly path: string;
}

/** What the rule packs find in an app with everything that the kit makes. */
function findings(): Finding[] {
  const before = process.env['CDK_VALIDATION'];
  // The packs are plugins of validation, which other tests do without.
  delete process.env['CDK_VALIDATION'];
  try {
    const outdir = mkdtempSync(join(tmpdir(), 'safewrites-nag-'));
    const app = new App({
      outdir,
      context: (JSON.parse(readFileSync('cdk.json', 'utf8')) as { context: Record<string, unknown> }).context,
    });
    new SafeWritesStack(app, 'Default', { alarmEmail: 'team@shop.test' });
    everything(new Stack(app, 'Everything', { env: { region: 'eu-west-1', account: '111122223333' } }));
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
    try {
      app.synth();
      return [];
    } catch {
      const report = JSON.parse(readFileSync(join(outdir, 'validation-report.json'), 'utf8')) as {
        pluginReports: { violations: { ruleName: string; violatingConstructs: { constructPath: string }[] }[] }[];
      };
      return report.pluginReports.flatMap(({ violations }) =>
        violations.flatMap(({ ruleName, violatingConstructs }) =>
          violatingConstructs.map(({ constructPath }) => ({ rule: ruleName, path: constructPath })),
        ),
      );
    }
  } finally {
    if (before !== undefined) process.env['CDK_VALIDATION'] = before;
  }
}

function everything(stack: Stack): void {
  const encryption = dynamodb.TableEncryptionV2.customerManagedKey(
    new kms.Key(stack, 'Key', { enableKeyRotation: true }),
  );
  const table = new SafeWritesTable(stack, 'Table', { encryption });
  table.newTable!.addGlobalSecondaryIndex({
    indexName: 'byOwner',
    partitionKey: { name: 'owner', type: dynamodb.AttributeType.STRING },
  });
  const code = anyCode();
  new IdempotentEndpoint(stack, 'Url', { table, functionUrl: true });
  const authorization = EndpointAuthorization.none({ scopeFunction: 'cartOf' });
  new IdempotentEndpoint(stack, 'Open', { table, code, authorization });
  const jwt = EndpointAuthorization.jwt({ issuer: 'https://login.test/', audience: ['shop'] });
  new IdempotentEndpoint(stack, 'Jwt', { table, code, authorization: jwt });
  const ingest = new OrderedIngest(stack, 'Ingest', { table });
  const provisionedPollers = { minimumPollers: 1, maximumPollers: 2 };
  ingest.addMsk('Msk', {
    clusterArn: 'arn:aws:kafka:eu-west-1:111122223333:cluster/main/5a0f-7',
    topic: 'scores',
    provisionedPollers,
  });
  ingest.addSelfManagedKafka('Kafka', {
    bootstrapServers: ['b1.test:9096'],
    topic: 'scores',
    subnets: [ec2.Subnet.fromSubnetAttributes(stack, 'Subnet', { subnetId: 'subnet-1', routeTableId: 'rtb-1' })],
    securityGroup: ec2.SecurityGroup.fromSecurityGroupId(stack, 'Group', 'sg-1'),
    provisionedPollers,
  });
  new OutboxRelay(stack, 'ToTopic', { table, topicProps: {} });
  new OutboxRelay(stack, 'ToQueue', { table, queueProps: { fifo: true } });
}

/** What is acknowledged, and for what it is so. */
const acknowledged = () =>
  recorded.flatMap(({ scope, reasons }) => Object.keys(reasons).map((rule) => ({ scope, rule })));

describe('cdk-nag, with the packs AwsSolutions and Serverless', () => {
  beforeAll(() => buildLambdas());

  it('finds nothing that is not acknowledged with its reason', () => {
    expect(findings()).toEqual([]);
    for (const { reasons } of recorded)
      for (const reason of Object.values(reasons)) expect(reason).toMatch(/^[A-Z].{20,}\.$/);
  }, 120_000);

  it('is told of nothing that it would not find', () => {
    recorded.length = 0;
    passOn = false;
    const found = findings();
    const stale = acknowledged().filter(
      ({ scope, rule }) =>
        !found.some(({ rule: violated, path }) => violated === rule && path.startsWith(`${scope.node.path}/`)),
    );
    expect([...new Set(stale.map(({ scope, rule }) => `${scope.node.path}: ${rule}`))]).toEqual([]);
    expect(found.length).toBeGreaterThan(10);
  }, 120_000);
});
