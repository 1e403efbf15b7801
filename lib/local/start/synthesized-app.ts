import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventPattern } from '../sources/mapping/event-pattern.js';
import type { Value } from './cloudformation.js';
import { StartError } from './start-error.js';
import { stackResources } from './stack-resources.js';

/** A table as its template describes it. */
export interface AppTable {
  readonly name: string;
  readonly keySchema: readonly { AttributeName: string; KeyType: 'HASH' | 'RANGE' }[];
  readonly attributeDefinitions: readonly { AttributeName: string; AttributeType: 'S' | 'N' | 'B' }[];
  readonly globalSecondaryIndexes: readonly Record<string, Value>[];
  readonly streamViewType: 'KEYS_ONLY' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES' | undefined;
  readonly timeToLiveAttribute: string | undefined;
}

/** A function as its template describes it. */
export interface AppFunction {
  readonly name: string;
  /** Folder of the asset that would be uploaded. */
  readonly folder: string;
  /** `file.export`. */
  readonly handler: string;
  readonly timeoutSeconds: number;
  readonly memorySize: number;
  readonly environment: Readonly<Record<string, string>>;
}

/** A route of an HTTP API, and the function it leads to. */
export interface AppRoute {
  readonly routeKey: string;
  readonly function: string;
  readonly iam: boolean;
}

/** A queue, with SQS's attributes as text. */
export interface AppQueue {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** An event source mapping: the ARN of its source, and the settings of Lambda's API that it has. */
export interface AppMapping {
  readonly function: string;
  /** Absent for a Kafka cluster of one's own. */
  readonly sourceArn: string | undefined;
  /** Of a Kafka mapping. */
  readonly topic: string | undefined;
  readonly consumerGroupId: string | undefined;
  readonly filters: readonly EventPattern[];
  readonly onFailureArn: string | undefined;
  readonly numbers: Readonly<Record<string, number>>;
  readonly startingPosition: 'TRIM_HORIZON' | 'LATEST' | undefined;
  readonly bisectBatchOnFunctionError: boolean;
  readonly reportBatchItemFailures: boolean;
}

/** A rule of EventBridge: by schedule, or by the pattern of a bus's events. */
export interface AppRule {
  readonly arn: string;
  readonly bus: string;
  readonly scheduleExpression: string | undefined;
  readonly pattern: EventPattern | undefined;
  readonly targets: readonly {
    readonly arn: string;
    readonly input: object | undefined;
    readonly groupId: string | undefined;
  }[];
}

/** What the local server runs. */
export interface SynthesizedApp {
  readonly tables: readonly AppTable[];
  readonly functions: readonly AppFunction[];
  readonly routes: readonly AppRoute[];
  readonly queues: readonly AppQueue[];
  readonly buses: readonly string[];
  readonly mappings: readonly AppMapping[];
  readonly rules: readonly AppRule[];
}

interface Manifest {
  readonly artifacts?: Record<string, { type: string; properties?: { templateFile?: string; stackName?: string } }>;
}

interface AssetManifest {
  readonly files?: Record<string, { source: { path?: string } }>;
}

const again = 'run `npm run synth`';

/**
 * Reads what `cdk synth` wrote.
 *
 * @param queueUrl - the address of a queue, which functions are told
 */
export async function readSynthesizedApp(
  directory: string,
  queueUrl: (name: string) => string,
): Promise<SynthesizedApp> {
  try {
    return await read(directory, queueUrl);
  } catch (error) {
    if (error instanceof StartError) throw error;
    // A template that was edited, or that holds what the local server does not know.
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new StartError(`The app in ${directory} holds what the local server can't read (${reason}): ${again}.`);
  }
}

async function read(directory: string, queueUrl: (name: string) => string): Promise<SynthesizedApp> {
  const manifest = await readJson<Manifest>(directory, 'manifest.json');
  const apps: SynthesizedApp[] = [];
  for (const [id, artifact] of Object.entries(manifest.artifacts ?? {})) {
    const templateFile = artifact.properties?.templateFile;
    if (artifact.type !== 'aws:cloudformation:stack' || templateFile === undefined) continue;
    const template = await readJson<{ Resources?: Record<string, never> }>(directory, templateFile);
    const assets = await readJson<AssetManifest>(directory, templateFile.replace('.template.json', '.assets.json'));
    apps.push(
      stackResources(artifact.properties?.stackName ?? id, template.Resources ?? {}, {
        queueUrl,
        assetFolder: (key) => {
          const path = assets.files?.[key.replace(/\.zip$/, '')]?.source.path;
          if (path === undefined)
            throw new StartError(`${directory} does not hold the code of every function: ${again}.`);
          return join(directory, path);
        },
      }),
    );
  }
  const app: SynthesizedApp = {
    tables: apps.flatMap(({ tables }) => tables),
    functions: apps.flatMap(({ functions }) => functions),
    routes: apps.flatMap(({ routes }) => routes),
    queues: apps.flatMap(({ queues }) => queues),
    buses: apps.flatMap(({ buses }) => buses),
    mappings: apps.flatMap(({ mappings }) => mappings),
    rules: apps.flatMap(({ rules }) => rules),
  };
  if (app.routes.length + app.mappings.length + app.rules.length === 0) {
    throw new StartError(`The app in ${directory} has no HTTP route, event source or rule to serve.`);
  }
  return app;
}

async function readJson<T>(directory: string, file: string): Promise<T> {
  try {
    return JSON.parse(await readFile(join(directory, file), 'utf8')) as T;
  } catch {
    throw new StartError(`There is no complete synthesized app in ${directory} (${file}): ${again}.`);
  }
}
