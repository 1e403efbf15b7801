import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import type { PackedPackage } from './packed-package.js';
import { packPackage } from './packed-package.js';

let packed: PackedPackage;
let entryPoints: string[];

beforeAll(async () => {
  packed = await packPackage();
  entryPoints = Object.keys(packed.manifest.exports)
    .filter((subpath) => subpath !== './package.json')
    .map((subpath) => join('safewrites', subpath));
}, 120_000);

describe('the packed package', () => {
  it('holds what is built, its manifest, its license and its README, and nothing else', () => {
    const wanted = [
      /^(package\.json|LICENSE|README\.md)$/,
      /^dist\/(esm|cjs)\/(commands|recipes|messaging|events|http|constructs|local)\/(.+\/)?[a-z0-9-]+\.(js|d\.ts)$/,
      /^dist\/cjs\/(package\.json|THIRD-PARTY-LICENSES\.txt)$/,
      /^dist\/lambdas\/[a-z-]+\/((index|chunk-\w+)\.mjs(\.map)?|THIRD-PARTY-LICENSES\.txt)$/,
    ];
    expect(packed.files.filter((file) => !wanted.some((pattern) => pattern.test(file)))).toEqual([]);
    // The server behind `npm start` belongs to the checkout.
    expect(packed.files.filter((file) => file.includes('/local/start/'))).toEqual([]);
    expect(packed.files).toEqual(
      expect.arrayContaining(['LICENSE', 'dist/cjs/package.json', 'dist/lambdas/charge/index.mjs']),
    );
  });

  it('holds each file that it exports, with its declarations, in both formats', () => {
    const targets = Object.values(packed.manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [target] : [target.import, target.require],
    );
    const files = targets.flatMap((file) => [file, file.replace(/\.js$/, '.d.ts')]).map((file) => file.slice(2));
    expect(files.filter((file) => !packed.files.includes(file))).toEqual([]);
  });

  it('imports no package that it does not declare', () => {
    const declared = Object.keys({ ...packed.manifest.dependencies, ...packed.manifest.peerDependencies });
    const imported = new Set<string>();
    for (const file of packed.files.filter((name) => /^dist\/(esm|cjs)\/.*\.(js|d\.ts)$/.test(name))) {
      const { importedFiles } = ts.preProcessFile(readFileSync(join(packed.folder, file), 'utf8'), true, true);
      for (const { fileName } of importedFiles) {
        const name = /^(?:@[^/]+\/)?[^/]+/.exec(fileName)![0];
        if (!fileName.startsWith('.') && !isBuiltin(fileName)) imported.add(name);
      }
    }
    expect([...imported].filter((name) => !declared.includes(name))).toEqual([]);
  });

  it('names nothing of the machine that built it', () => {
    const told = packed.files.filter((file) => readFileSync(join(packed.folder, file), 'utf8').includes(process.cwd()));
    expect(told).toEqual([]);
  });

  it('passes publint', async () => {
    const { messages, pkg } = await publint({ pkgDir: packed.folder, pack: false, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  it('passes attw, for every resolution that knows `exports`', () => {
    const attw = join('node_modules', '@arethetypeswrong/cli/dist/index.js');
    const output = execFileSync(process.execPath, [attw, packed.tarball, '--profile', 'node16', '--format', 'json'], {
      encoding: 'utf8',
    });
    const { analysis } = JSON.parse(output) as { analysis: { problems: { kind: string; resolutionKind?: string }[] } };
    expect(analysis.problems.filter(({ resolutionKind }) => resolutionKind !== 'node10')).toEqual([]);
  }, 60_000);
});

describe.each([
  { format: 'an ES module', file: 'load.mjs', load: (name: string) => `await import(${JSON.stringify(name)})` },
  { format: 'a CommonJS module', file: 'load.cjs', load: (name: string) => `require(${JSON.stringify(name)})` },
])('a consumer that is $format', ({ file, load }) => {
  const run = (text: string) => packed.run(file, `(async () => {${text}})()`);

  it('loads every entry point', () => {
    const exported = run(
      `console.log(JSON.stringify([${entryPoints.map((name) => `Object.keys(${load(name)}).length`).join(', ')}]));`,
    ) as number[];
    expect(exported).toHaveLength(entryPoints.length);
    expect(exported.every((count) => count > 0)).toBe(true);
  });

  it('writes and reads with the commands on the embedded DynamoDB', () => {
    const result = run(`
      const { entity, string, table } = ${load('safewrites')};
      const { createLocalDynamoDB } = ${load('safewrites/local')};
      const { CreateTableCommand, DynamoDBClient } = ${load('@aws-sdk/client-dynamodb')};
      const local = await createLocalDynamoDB();
      const client = new DynamoDBClient(local.clientConfig);
      const shop = table({ name: 'shop', client });
      const Note = entity('NOTE', { pk: 'NOTE#{id}', sk: 'TEXT', attributes: { id: string(), text: string() } });
      await client.send(new CreateTableCommand({
        TableName: 'shop',
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'sk', AttributeType: 'S' }],
      }));
      const notes = shop.of(Note);
      await notes.put({ id: 'n', text: 'kept' }).maxAttempts(2);
      console.log(JSON.stringify(await notes.get({ id: 'n' }).item()));
      await local.close();
    `);
    expect(result).toEqual({ id: 'n', text: 'kept' });
  });

  it('takes conditions as text, in filters, writes and the recipes made of them', () => {
    const result = run(`
      const { createTable, entity, integer, string, table } = ${load('safewrites')};
      const { Locks } = ${load('safewrites/recipes')};
      const { createLocalDynamoDB } = ${load('safewrites/local')};
      const { DynamoDBClient } = ${load('@aws-sdk/client-dynamodb')};
      const local = await createLocalDynamoDB();
      const shop = table({ name: 'shop', client: new DynamoDBClient(local.clientConfig) });
      const Note = entity('NOTE', {
        pk: 'NOTE#{id}', sk: 'TEXT', attributes: { id: string(), text: string(), likes: integer() },
      });
      await createTable(shop);
      const notes = shop.of(Note);
      const { text, likes } = Note.attrs;
      const long = Note.text\`size(\${text}) > \${likes.value(3)}\`;
      await notes.put({ id: 'n', text: 'kept', likes: 1 });
      const { conditionMet } = await notes.update({ id: 'n' }).add(likes, 1).if(long).trySend();
      const liked = Note.text\`\${likes} > \${likes.value(1)}\`;
      const { items } = await notes.query({ id: 'n' }).filter(liked).page();
      const lock = await new Locks(shop).acquire('report');
      console.log(JSON.stringify({ conditionMet, found: items.length, released: await lock.release() }));
      await local.close();
    `);
    expect(result).toEqual({ conditionMet: true, found: 1, released: true });
  });

  it('synthesizes the stack, with the functions that the package ships', () => {
    const result = run(`
      const { App } = ${load('aws-cdk-lib')};
      const { SafeWritesStack } = ${load('safewrites/cdk')};
      const app = new App({ outdir: 'cdk.out-${file}' });
      new SafeWritesStack(app, 'Imported');
      const { Resources } = app.synth().getStackByName('Imported').template;
      console.log(JSON.stringify(Object.values(Resources).map(({ Type }) => Type)));
    `);
    expect(result).toEqual(
      expect.arrayContaining(['AWS::DynamoDB::GlobalTable', 'AWS::Lambda::Function', 'AWS::ApiGatewayV2::Route']),
    );
  }, 60_000);
});

describe.each([
  { format: 'an ES module', file: 'entities.mjs', load: (name: string) => `await import(${JSON.stringify(name)})` },
  { format: 'a CommonJS module', file: 'entities.cjs', load: (name: string) => `require(${JSON.stringify(name)})` },
])('the constructs of a consumer that is $format', ({ file, load }) => {
  it('read the keys and the time to live of its entities', () => {
    const result = packed.run(
      file,
      `(async () => {
        const { App, Stack, aws_lambda: lambda } = ${load('aws-cdk-lib')};
        const { entity, string, timeToLive } = ${load('safewrites')};
        const { IdempotentEndpoint, SafeWritesTable } = ${load('safewrites/cdk')};
        const stack = new Stack(new App(), 'Shop');
        const table = new SafeWritesTable(stack, 'Table');
        const code = lambda.Code.fromInline('exports.handler = async () => ({ statusCode: 204 })');
        const note = (expires) =>
          entity('NOTE', { pk: 'NOTE#{id}', sk: 'TEXT', attributes: { id: string(), expires } });
        const endpoint = (id, entities) =>
          new IdempotentEndpoint(stack, id, { table, code, entities, limitToLeadingKeys: true });
        const refused = (id, entity) => { try { endpoint(id, [entity]); } catch ({ message }) { return message; } };
        endpoint('Right', [note(timeToLive().savedAs('ttl'))]);
        const policies = stack.node.findAll().filter(({ cfnResourceType }) => cfnResourceType === 'AWS::IAM::Policy');
        const policy = JSON.stringify(policies.map(({ policyDocument }) => stack.resolve(policyDocument)));
        const elsewhere = refused('Elsewhere', note(timeToLive().savedAs('gone')));
        const older = refused('Older', { name: 'NOTE', [Symbol.for('safewrites.entity')]: 0 });
        console.log(JSON.stringify({ has: policy.includes('"NOTE#*"'), elsewhere, older }));
      })()`,
    );
    expect(result).toEqual({
      has: true,
      elsewhere: expect.stringContaining('entities: NOTE stores its time to live in "gone"') as string,
      older: expect.stringContaining('entities: was made by another version of safewrites') as string,
    });
  }, 60_000);
});

describe('a consumer in TypeScript', () => {
  it('compiles as an ES module and as a CommonJS module, libraries checked too', () => {
    const text = [
      ...entryPoints.map((name, index) => `import * as m${index} from '${name}';`),
      "import { App } from 'aws-cdk-lib';",
      "import { DynamoDBClient } from '@aws-sdk/client-dynamodb';",
      "import { entity, string, table } from 'safewrites';",
      "import { SafeWritesStack } from 'safewrites/cdk';",
      "export const Note = entity('NOTE', { pk: 'NOTE#{id}', sk: 'TEXT', attributes: { id: string() } });",
      "export const sent = table({ name: 't', client: new DynamoDBClient() }).of(Note).put({ id: 'a' }).send();",
      "export const stack: SafeWritesStack = new SafeWritesStack(new App(), 'S');",
      `export const all = [${entryPoints.map((_, index) => `m${index}`).join(', ')}];`,
    ].join('\n');
    writeFileSync(join(packed.project, 'main.mts'), text);
    writeFileSync(join(packed.project, 'main.cts'), text);
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2022',
      strict: true,
      noEmit: true,
      types: ['node'],
      typeRoots: [join(process.cwd(), 'node_modules/@types')],
      skipLibCheck: false,
    };
    const config = JSON.stringify({ compilerOptions, files: ['main.mts', 'main.cts'] });
    writeFileSync(join(packed.project, 'tsconfig.json'), config);
    const tsc = join('node_modules', 'typescript/bin/tsc');
    let said = '';
    try {
      execFileSync(process.execPath, [tsc, '-p', packed.project], { encoding: 'utf8' });
    } catch (error) {
      said = (error as { stdout: string }).stdout;
    }
    expect(said).toBe('');
  }, 120_000);
});
