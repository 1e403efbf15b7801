import { tableNotFound, validationError } from '../engine/api-error.js';
import type { FieldType } from '../engine/dynalite.js';
import type { Engine } from '../engine/engine.js';
import { TABLES } from '../engine/store.js';
import type { StoreOp } from '../engine/store.js';
import type { Body, TableDescription, Throughput } from '../engine/types.js';
import { applySettings, OTHER_FIELDS, STREAM_FIELDS } from './create-table.js';
import type { TableSettings } from './create-table.js';
import { applyIndexUpdate } from './index-updates.js';
import type { IndexUpdate } from './index-updates.js';
import type { Operation } from './operation.js';
import { changedThroughput } from './throughput.js';

interface UpdateRequest extends TableSettings {
  TableName: string;
  BillingMode?: 'PROVISIONED' | 'PAY_PER_REQUEST';
  ProvisionedThroughput?: Throughput;
  AttributeDefinitions?: TableDescription['AttributeDefinitions'];
  GlobalSecondaryIndexUpdates?: IndexUpdate[];
}

export function extendUpdateTable(engine: Engine): void {
  const { notNull: _, ...definitions } = engine.dynalite.validation('CreateTable').types[
    'AttributeDefinitions'
  ] as FieldType;
  const known = engine.dynalite.validation('UpdateTable');
  const updates = structuredClone(known.types['GlobalSecondaryIndexUpdates']) as FieldType;
  // On-demand tables create indexes without throughput.
  const create = ((updates.children as FieldType).children as Record<string, FieldType>)['Create']!;
  delete ((create.children as Record<string, FieldType>)['ProvisionedThroughput'] as Body)['notNull'];
  engine.extendValidation(
    'UpdateTable',
    {
      ...STREAM_FIELDS,
      ...OTHER_FIELDS,
      GlobalSecondaryIndexUpdates: updates,
      AttributeDefinitions: definitions,
    },
    (data, store) => {
      // dynalite asks for one of the settings that it knows.
      const others = ['StreamSpecification', 'DeletionProtectionEnabled', 'TableClass', 'SSESpecification'];
      return others.some((name) => data[name] !== undefined) ? undefined : known.custom?.(data, store);
    },
  );
}

/** All changes take place at once: the table stays ACTIVE, a new index is filled before the answer. */
export const updateTable: Operation = (engine, request, meter) => {
  const data = engine.validate<Body & UpdateRequest>('UpdateTable', request);
  meter.touch(data.TableName);
  const current = engine.findTable(data.TableName);
  if (!current) throw tableNotFound(data.TableName);
  const table = structuredClone(current);
  const ops: StoreOp[] = [];
  applySettings(table, data);
  if (data.StreamSpecification) ops.push(...engine.streams.specify(table, data.StreamSpecification));
  if (data.DeletionProtectionEnabled !== undefined) table.DeletionProtectionEnabled = data.DeletionProtectionEnabled;
  applyBilling(engine, table, data);
  for (const update of data.GlobalSecondaryIndexUpdates ?? [])
    ops.push(...applyIndexUpdate(engine, table, data.AttributeDefinitions ?? [], update));
  dropUnusedDefinitions(table);
  engine.store.apply([{ space: TABLES, key: table.TableName, value: table }, ...ops]);
  return { TableDescription: { ...table, TableStatus: 'UPDATING' } };
};

function applyBilling(engine: Engine, table: TableDescription, data: UpdateRequest): void {
  const mode = data.BillingMode ?? table.BillingModeSummary?.BillingMode ?? 'PROVISIONED';
  const now = engine.clock() / 1000;
  if (data.ProvisionedThroughput) {
    if (mode === 'PAY_PER_REQUEST') {
      throw validationError(
        'One or more parameter values were invalid: Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST',
      );
    }
    table.ProvisionedThroughput = changedThroughput(
      table.ProvisionedThroughput,
      data.ProvisionedThroughput,
      now,
      'table',
    );
  }
  if (!data.BillingMode) return;
  const wasOnDemand = table.BillingModeSummary?.BillingMode === 'PAY_PER_REQUEST';
  table.BillingModeSummary = { ...table.BillingModeSummary, BillingMode: mode };
  table.TableThroughputModeSummary = { ...table.TableThroughputModeSummary, TableThroughputMode: mode };
  if (mode === 'PAY_PER_REQUEST' && !wasOnDemand) {
    table.BillingModeSummary.LastUpdateToPayPerRequestDateTime = now;
    table.TableThroughputModeSummary.LastUpdateToPayPerRequestDateTime = now;
    const none = { NumberOfDecreasesToday: 0, ReadCapacityUnits: 0, WriteCapacityUnits: 0 };
    table.ProvisionedThroughput = { ...table.ProvisionedThroughput, ...none };
    for (const index of table.GlobalSecondaryIndexes ?? []) {
      index.ProvisionedThroughput = { ...index.ProvisionedThroughput, ...none };
    }
  }
}

/** Attributes that no key uses any more are not described. */
function dropUnusedDefinitions(table: TableDescription): void {
  const schemas = [table, ...(table.GlobalSecondaryIndexes ?? []), ...(table.LocalSecondaryIndexes ?? [])];
  const used = new Set(schemas.flatMap(({ KeySchema }) => KeySchema.map(({ AttributeName }) => AttributeName)));
  table.AttributeDefinitions = table.AttributeDefinitions.filter(({ AttributeName }) => used.has(AttributeName));
}
