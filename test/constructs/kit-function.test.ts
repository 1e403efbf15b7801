import { mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Charge } from '../../lambdas/charge/charge.js';
import { Customer } from '../../lambdas/charge/customer.js';
import { LiveMatch } from '../../lambdas/ingest/live-match.js';
import { entity, string, timeToLive } from '../../lib/commands/index.js';
import { bundledFunctions, kitKeys } from '../../lib/constructs/bundled-code.js';
import type { IdempotentEndpointProps } from '../../lib/constructs/index.js';
import { IdempotentEndpoint, OutboxRelay, SafeWritesTable } from '../../lib/constructs/index.js';
import { InboxRecord } from '../../lib/messaging/inbox/inbox-record.js';
import { IdempotencyRecord } from '../../lib/recipes/idempotency/record.js';
import { OutboxItem } from '../../lib/recipes/outbox/outbox-item.js';
import { ParkedEvent } from '../../lib/recipes/outbox/parked-event.js';
import { allowedIn, anyCode, inTransactionsOnly, templateOf } from './synth.js';

const Order = entity('ORDER', { pk: 'ORDER#{id}', sk: 'ORDER', attributes: { id: string() } });
const Settings = entity('SETTINGS', { pk: 'SETTINGS', sk: '{name}', attributes: { name: string() } });

const endpoint = (props: Partial<IdempotentEndpointProps>) =>
  templateOf(
    (stack) =>
      new IdempotentEndpoint(stack, 'Orders', {
        table: new SafeWritesTable(stack, 'Table'),
        code: anyCode(),
        ...props,
      }),
  );

describe('a function that is limited to its leading keys', () => {
  const leadingKeys = (...keys: string[]) =>
    `"ForAllValues:StringLike":{"dynamodb:LeadingKeys":${JSON.stringify(keys)}}`;

  it('may touch the items of its entities, and those that the kit stores for it', () => {
    const allowed = allowedIn(endpoint({ limitToLeadingKeys: true, entities: [Order, Settings] }));
    const condition = leadingKeys('IDEMPOTENCY#*', 'ORDER#*', 'OUTBOX#*', 'SETTINGS');
    expect(allowed).toContain(`dynamodb:PutItem on Table.Arn if {${condition}}`);
    expect(allowed).toContain(
      `dynamodb:ConditionCheckItem on Table.Arn ${inTransactionsOnly.slice(0, -1)},${condition}}`,
    );
  });

  it('may touch what the functions that the package ships store', () => {
    const keys = (text: string) => {
      const input = text.indexOf('{');
      return input === -1 ? text : `${text.slice(0, input)}*`;
    };
    const of = (...entities: unknown[]) =>
      entities.map((found) => keys((found as { pk: { text_: string } }).pk.text_)).sort();
    expect([...bundledFunctions.charge.leadingKeys].sort()).toEqual(
      of(Charge, Customer, IdempotencyRecord, OutboxItem),
    );
    expect(bundledFunctions.ingest.leadingKeys).toEqual(of(LiveMatch));
    expect([...bundledFunctions.relay.leadingKeys].sort()).toEqual(of(OutboxItem, ParkedEvent));
    expect(Object.values(kitKeys).sort()).toEqual(of(IdempotencyRecord, InboxRecord, OutboxItem, ParkedEvent));
  });

  it('is not the default', () => {
    expect(allowedIn(endpoint({ entities: [Order] })).join()).not.toContain('LeadingKeys');
  });

  it.each<[string, Partial<IdempotentEndpointProps>, string]>([
    ['no entities', { limitToLeadingKeys: true }, 'limitToLeadingKeys: name the entities'],
    [
      'what is no entity',
      { limitToLeadingKeys: true, entities: [{ name: 'X' }] },
      'entities: holds what is no entity made by entity()',
    ],
    [
      'keys that begin with a value',
      { limitToLeadingKeys: true, entities: [entity('ANY', { pk: '{id}', sk: 'ANY', attributes: { id: string() } })] },
      'entities: the keys of ANY begin with a value',
    ],
  ])('refuses %s', (_, props, message) => {
    expect(() => endpoint(props)).toThrow(message);
  });
});

describe('the time to live of an entity', () => {
  const stored = (savedAs?: string) =>
    entity('NOTE', {
      pk: 'NOTE#{id}',
      sk: 'NOTE',
      attributes: { id: string(), gone: savedAs === undefined ? timeToLive() : timeToLive().savedAs(savedAs) },
    });

  it('is stored where the table looks for it', () => {
    endpoint({ entities: [stored(), stored('ttl')] });
    expect(() => endpoint({ entities: [stored('expiresAt')] })).toThrow(
      'entities: NOTE stores its time to live in "expiresAt", but the table looks for it in "ttl"',
    );
  });
});

describe('entry', () => {
  afterEach(() => void vi.restoreAllMocks());
  const source = (root = mkdtempSync(join(tmpdir(), 'safewrites-entry-'))) => {
    writeFileSync(join(root, 'package-lock.json'), '{}');
    writeFileSync(
      join(root, 'handler.ts'),
      'export const handler = async (): Promise<{ statusCode: number }> => ({ statusCode: 204 });\n',
    );
    return { entry: join(root, 'handler.ts'), depsLockFilePath: join(root, 'package-lock.json') };
  };

  it('is bundled by esbuild as an ES module for the runtime', () => {
    const app = new App();
    const stack = new Stack(app, 'Test');
    const table = new SafeWritesTable(stack, 'Table');
    new IdempotentEndpoint(stack, 'Orders', {
      table,
      entry: 'lambdas/charge/index.ts',
      runtime: lambda.Runtime.NODEJS_22_X,
    });
    const { directory } = app.synth();
    const [asset] = readdirSync(directory).filter((name) => name.startsWith('asset.'));
    expect(readdirSync(join(directory, asset!)).sort()).toEqual(['index.mjs', 'index.mjs.map']);
    expect(readFileSync(join(directory, asset!, 'index.mjs'), 'utf8')).toMatch(/export\{[\w$]+ as handler\}/);
    Template.fromStack(stack).hasResourceProperties('AWS::Lambda::Function', {
      Runtime: 'nodejs22.x',
      Handler: 'index.handler',
    });
  });

  it('may hold CommonJS that requires modules of Node', async () => {
    const app = new App();
    const stack = new Stack(app, 'Test');
    const { entry, depsLockFilePath } = source();
    symlinkSync(join(process.cwd(), 'node_modules'), join(dirname(entry), 'node_modules'), 'junction');
    writeFileSync(join(dirname(entry), 'old.cjs'), "exports.platform = require('os').platform();\n");
    writeFileSync(entry, "import { platform } from './old.cjs';\nexport const handler = async () => platform;\n");
    new IdempotentEndpoint(stack, 'Orders', { table: new SafeWritesTable(stack, 'Table'), entry, depsLockFilePath });
    const { directory } = app.synth();
    const [asset] = readdirSync(directory).filter((name) => name.startsWith('asset.'));
    const { handler } = (await import(join(directory, asset!, 'index.mjs'))) as { handler: () => Promise<string> };
    expect(await handler()).toBe(process.platform);
  });

  it.each<[string, (given: ReturnType<typeof source>) => Partial<IdempotentEndpointProps>, string]>([
    ['that is not there', () => ({ entry: 'src/nowhere.ts' }), 'entry: there is no file src/nowhere.ts, seen from'],
    ['that is a folder', ({ entry }) => ({ entry: dirname(entry) }), 'entry: there is no file'],
    ['of another language', ({ depsLockFilePath: entry }) => ({ entry }), 'entry: must be a file of JavaScript'],
    [
      'whose lock file is not there',
      ({ entry }) => ({ entry, depsLockFilePath: join(dirname(entry), 'yarn.lock') }),
      'depsLockFilePath: there is no file',
    ],
  ])('refuses a source %s, and names the prop', (_, props, message) => {
    expect(() => endpoint({ code: undefined as never, ...props(source()) })).toThrow(`Orders: ${message}`);
  });

  it('says that esbuild is missing, rather than to look for docker', () => {
    vi.spyOn(process, 'cwd').mockReturnValue(mkdtempSync(join(tmpdir(), 'safewrites-empty-')));
    const stack = new Stack(new App(), 'Test');
    const table = new SafeWritesTable(stack, 'Table');
    expect(() => new IdempotentEndpoint(stack, 'Orders', { table, ...source() })).toThrow(
      'Test/Orders: entry: bundling needs esbuild',
    );
  });

  it('is not bundled where the stack is not deployed', () => {
    vi.spyOn(process, 'cwd').mockReturnValue(mkdtempSync(join(tmpdir(), 'safewrites-empty-')));
    endpoint({ code: undefined as never, ...source() }).resourceCountIs('AWS::Lambda::Function', 1);
  });
});

describe('a handler of yours', () => {
  it('is wired as the one that it replaces', () => {
    const template = templateOf((stack) => {
      const table = new SafeWritesTable(stack, 'Table');
      new OutboxRelay(stack, 'Relay', {
        table,
        code: anyCode(),
        environment: { LEVEL: 'debug' },
        tableActions: ['Query'],
        transactWriteActions: [],
      });
    });
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { LEVEL: 'debug', SAFEWRITES_PARTIAL_RESPONSES: 'true' } },
    });
    expect(allowedIn(template).filter((line) => line.includes('Item') || line.includes('Query'))).toEqual([
      'dynamodb:Query on Table.Arn',
    ]);
  });
});
