import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
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

/** What the local server runs. */
export interface SynthesizedApp {
  readonly tables: readonly AppTable[];
  readonly functions: readonly AppFunction[];
  readonly routes: readonly AppRoute[];
}

interface Manifest {
  readonly artifacts?: Record<string, { type: string; properties?: { templateFile?: string; stackName?: string } }>;
}

interface AssetManifest {
  readonly files?: Record<string, { source: { path?: string } }>;
}

const again = 'run `npm run synth`';

/** Reads what `cdk synth` wrote. */
export async function readSynthesizedApp(directory: string): Promise<SynthesizedApp> {
  const manifest = await readJson<Manifest>(directory, 'manifest.json');
  const apps: SynthesizedApp[] = [];
  for (const [id, artifact] of Object.entries(manifest.artifacts ?? {})) {
    const templateFile = artifact.properties?.templateFile;
    if (artifact.type !== 'aws:cloudformation:stack' || templateFile === undefined) continue;
    const template = await readJson<{ Resources?: Record<string, never> }>(directory, templateFile);
    const assets = await readJson<AssetManifest>(directory, templateFile.replace('.template.json', '.assets.json'));
    apps.push(
      stackResources(artifact.properties?.stackName ?? id, template.Resources ?? {}, (key) => {
        const path = assets.files?.[key.replace(/\.zip$/, '')]?.source.path;
        if (path === undefined)
          throw new StartError(`${directory} does not hold the code of every function: ${again}.`);
        return join(directory, path);
      }),
    );
  }
  const app: SynthesizedApp = {
    tables: apps.flatMap(({ tables }) => tables),
    functions: apps.flatMap(({ functions }) => functions),
    routes: apps.flatMap(({ routes }) => routes),
  };
  if (app.routes.length === 0) throw new StartError(`The app in ${directory} has no HTTP route to serve.`);
  return app;
}

async function readJson<T>(directory: string, file: string): Promise<T> {
  try {
    return JSON.parse(await readFile(join(directory, file), 'utf8')) as T;
  } catch {
    throw new StartError(`There is no complete synthesized app in ${directory} (${file}): ${again}.`);
  }
}
