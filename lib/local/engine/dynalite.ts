import { keepParsed } from '../corrections/kept-expressions.js';
import type { ExpressionParser } from '../corrections/syntax-error.js';
import type { Body, KeySchemaElement, TableDescription, WireItem } from './types.js';

/** What dynalite calls back with. */
export type Callback<T = unknown> = (error?: Error | null, value?: T) => void;

/** The part of dynalite's store that one of its sub-databases gives. */
export interface EngineSubStore {
  lock(keys: string | string[], run: (release: <F>(callback: F) => F) => void): void;
  get(key: string, callback: Callback<unknown>): void;
  put(key: string, value: unknown, callback: Callback): void;
  del(key: string, callback: Callback): void;
  batch(ops: { type: 'put' | 'del'; key: string; value?: unknown }[], callback: Callback): void;
  createKeyStream(range?: object): unknown;
  createValueStream(range?: object): unknown;
  awsAccountId: string;
  awsRegion: string;
}

/** What dynalite's actions and validations take as their store. */
export interface EngineStore {
  options: { createTableMs: number; deleteTableMs: number; updateTableMs: number; maxItemSize: number };
  tableDb: EngineSubStore;
  getTable(
    name: string,
    checkStatus: boolean | Callback<TableDescription>,
    callback?: Callback<TableDescription>,
  ): void;
  getItemDb(table: string): EngineSubStore;
  getIndexDb(type: string, table: string, index: string): EngineSubStore;
  getTagDb(table: string): EngineSubStore;
}

/** A tree of dynalite's request checks: type, constraints, children. */
export interface FieldTypes {
  [name: string]: string | FieldType;
}
export interface FieldType {
  type: string;
  children?: string | FieldType | FieldTypes;
  [constraint: string]: unknown;
}

export type Action = (store: EngineStore, data: Body, callback: Callback<Body | ''>) => void;

export interface Validation {
  types: FieldTypes;
  custom?: (data: Body, store: EngineStore) => string | null | undefined;
}

export interface EngineDb {
  validateKey(key: WireItem, table: TableDescription, schema?: KeySchemaElement[]): Error | null | undefined;
  validateItem(item: WireItem, table: TableDescription): Error | null | undefined;
  validateUpdates(attributes: unknown, expression: unknown, table: TableDescription): Error | null | undefined;
  createKey(item: WireItem, table: TableDescription, schema?: KeySchemaElement[]): string;
  createIndexKey(item: WireItem, table: TableDescription, schema: KeySchemaElement[]): string;
  mapPaths(paths: unknown[], item: WireItem): WireItem;
}

interface Checks {
  checkTypes(data: Body, types: FieldTypes): Body;
  checkValidations(data: Body, types: FieldTypes, custom: Validation['custom'], store: EngineStore): void;
  validateAttributeValue(value: object): string | null | undefined;
}

/** dynalite's modules: its expressions, its checks of requests and its item actions. */
export interface Dynalite {
  db: EngineDb;
  checks: Checks;
  action(operation: string): Action;
  validation(operation: string): Validation;
  /** The parsers of expressions, by the name of the request's field. */
  parsers: Readonly<Record<string, ExpressionParser>>;
}

const OPERATIONS = [
  'BatchGetItem',
  'BatchWriteItem',
  'CreateTable',
  'DeleteItem',
  'DeleteTable',
  'DescribeTable',
  'GetItem',
  'ListTables',
  'ListTagsOfResource',
  'PutItem',
  'Query',
  'Scan',
  'TagResource',
  'UntagResource',
  'UpdateItem',
  'UpdateTable',
] as const;

/** An operation that dynalite implements or at least checks. */
export type EngineOperation = (typeof OPERATIONS)[number];

// Loaded on demand and by name: it is an optional peer, and CommonJS.
async function load<T>(path: string): Promise<T> {
  // A name in a variable is left alone by bundlers.
  const specifier = ['dynalite', path].join('/');
  const module = (await import(specifier)) as { default: T };
  return module.default;
}

let loaded: Promise<Dynalite> | undefined;

/** Loads dynalite's modules, once a process. */
export function loadDynalite(): Promise<Dynalite> {
  return (loaded ??= loadModules());
}

async function loadModules(): Promise<Dynalite> {
  const actions = new Map<string, Action>();
  const validations = new Map<string, Validation>();
  for (const operation of OPERATIONS) {
    const file = `${operation[0]!.toLowerCase()}${operation.slice(1)}.js`;
    actions.set(operation, await load<Action>(`actions/${file}`));
    validations.set(operation, await load<Validation>(`validations/${file}`));
  }
  const found = <T>(map: Map<string, T>, name: string): T => {
    const value = map.get(name);
    if (!value) throw new Error(`dynalite has no ${name}`);
    return value;
  };
  const conditions = keepParsed(await load<ExpressionParser>('db/conditionParser.js'));
  return {
    parsers: {
      ConditionExpression: conditions,
      FilterExpression: conditions,
      KeyConditionExpression: conditions,
      ProjectionExpression: await load<ExpressionParser>('db/projectionParser.js'),
      UpdateExpression: keepParsed(await load<ExpressionParser>('db/updateParser.js')),
    },
    db: await load<EngineDb>('db/index.js'),
    checks: await load<Checks>('validations/index.js'),
    action: (operation) => found(actions, operation),
    validation: (operation) => found(validations, operation),
  };
}
