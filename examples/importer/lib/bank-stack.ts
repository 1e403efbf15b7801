import { join } from 'node:path';
import { Duration, Stack, type StackProps } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { IdempotentEndpoint, OrderedIngest, OutboxRelay, SafeWritesDashboard, SafeWritesTable } from 'safewrites/cdk';
import { Account } from './account.js';

/** A table of accounts, an endpoint that opens them, and a queue that learns of it. */
export class BankStack extends Stack {
  constructor(scope: Construct, id: string, props?: StackProps) {
    super(scope, id, props);
    const table = new SafeWritesTable(this, 'Table');
    const accounts = new IdempotentEndpoint(this, 'Accounts', {
      table,
      path: '/accounts',
      // What `npm run build:handlers` makes. With `entry`, esbuild would make it at each synth.
      code: Code.fromAsset(join(process.cwd(), 'dist', 'open-account')),
      entities: [Account],
      timeout: Duration.seconds(5),
    });
    // These two run the functions that the package ships.
    const relay = new OutboxRelay(this, 'Relay', { table, queueProps: { visibilityTimeout: Duration.minutes(1) } });
    const matches = new OrderedIngest(this, 'Matches', { table });
    matches.addSqs('Events', { fifo: true });
    new SafeWritesDashboard(this, 'Dashboard', { endpoints: [accounts], relays: [relay], ingests: [matches] });
  }
}
