import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packPackage, type PackedPackage } from '../package/packed-package.js';
import { importingApp, type ImportingApp } from './importing-app.js';

/** What the example leaves out, so that each construct and option meets each version of the CDK. */
const everything = `
import { App, Stack, aws_ec2 as ec2, aws_lambda as lambda, aws_sns as sns } from 'aws-cdk-lib';
import { EndpointAuthorization, IdempotentEndpoint, OrderedIngest, OutboxRelay, SafeWritesStack, SafeWritesTable } from 'safewrites/cdk';

import { Account } from '../lib/account.js';

const app = new App();
new SafeWritesStack(app, 'Shipped', { alarmEmail: 'team@shop.test' });
const stack = new Stack(app, 'Everything', { env: { region: 'eu-west-1', account: '111122223333' } });
const table = new SafeWritesTable(stack, 'Table');
const alarmTopic = new sns.Topic(stack, 'Alarms');
new IdempotentEndpoint(stack, 'Url', { table, functionUrl: true, alarmTopic });
new IdempotentEndpoint(stack, 'Jwt', {
  table,
  authorization: EndpointAuthorization.jwt({ issuer: 'https://login.test/', audience: ['shop'] }),
});
new IdempotentEndpoint(stack, 'Open', {
  table,
  path: '/open',
  code: lambda.Code.fromInline('export const handler = async () => ({ statusCode: 204 });'),
  authorization: EndpointAuthorization.none({ scopeFunction: 'cartOf' }),
  entities: [Account],
  limitToLeadingKeys: true,
});
const ingest = new OrderedIngest(stack, 'Ingest', { table, reservedConcurrentExecutions: 10 });
ingest.addSqs('Events', { batchSize: 100 });
const provisionedPollers = { minimumPollers: 1, maximumPollers: 2 };
const clusterArn = 'arn:aws:kafka:eu-west-1:111122223333:cluster/main/5a0f-7';
ingest.addMsk('Msk', { clusterArn, topic: 'scores', provisionedPollers });
ingest.addSelfManagedKafka('Kafka', {
  bootstrapServers: ['b1.test:9096'],
  topic: 'scores',
  subnets: [ec2.Subnet.fromSubnetAttributes(stack, 'Subnet', { subnetId: 'subnet-1', routeTableId: 'rtb-1' })],
  securityGroup: ec2.SecurityGroup.fromSecurityGroupId(stack, 'Group', 'sg-1'),
  provisionedPollers,
});
new OutboxRelay(stack, 'ToTopic', { table, topicProps: { fifo: true } });
`;

let packed: PackedPackage;
beforeAll(async () => {
  packed = await packPackage();
}, 120_000);
afterAll(() => rmSync(packed.project, { recursive: true, force: true }));

const floor = (name: string) => packed.manifest.peerDependencies[name]!.replace(/^\^/, '');

describe.each([
  {
    which: 'the oldest aws-cdk-lib that is supported',
    versions: () => ({ cdk: floor('aws-cdk-lib'), constructs: floor('constructs') }),
  },
  { which: 'the newest aws-cdk-lib', versions: () => ({ cdk: 'latest', constructs: 'latest' }) },
])('an app with $which, without esbuild and docker', ({ versions }) => {
  let app: ImportingApp;
  beforeAll(() => {
    app = importingApp(packed.tarball, versions(), { 'bin/everything.ts': everything });
  }, 180_000);
  afterAll(() => rmSync(app.folder, { recursive: true, force: true }));

  it('has no bundler installed', () => {
    expect(existsSync(join(app.folder, 'node_modules/safewrites/dist/lambdas/relay/index.mjs'))).toBe(true);
    expect(existsSync(join(app.folder, 'node_modules/esbuild'))).toBe(false);
  });

  it.each(['commonjs', 'module'] as const)(
    'type-checks and synthesizes as a project of type %s',
    (format) => {
      expect(app.compile(format)).toBe('');
      const { Bank } = app.synth(format, 'bin/bank.js');
      const types = Object.values(Bank!.Resources).map(({ Type }) => Type);
      expect(types.filter((type) => type === 'AWS::Lambda::Function')).toHaveLength(3);
      expect(types).toContain('AWS::DynamoDB::GlobalTable');
      const { Shipped, Everything } = app.synth(format, 'bin/everything.js');
      const functions = (template = Shipped!) =>
        Object.values(template.Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function');
      expect(functions()).toHaveLength(3);
      expect(functions(Everything)).toHaveLength(5);
      expect(JSON.stringify(Everything!.Resources)).toContain('["ACCOUNT#*","IDEMPOTENCY#*","OUTBOX#*"]');
      for (const { Properties } of [...functions(), ...functions(Everything)]) {
        expect(Properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'] });
      }
    },
    120_000,
  );
});
