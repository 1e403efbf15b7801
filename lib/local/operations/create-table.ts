import { serviceError } from '../engine/api-error.js';
import type { FieldTypes } from '../engine/dynalite.js';
import type { Engine } from '../engine/engine.js';
import { TABLES, tagSpace } from '../engine/store.js';
import type { Body, StreamSpecification, TableDescription } from '../engine/types.js';
import type { Operation } from './operation.js';

/** Fields of CreateTable and UpdateTable that dynalite does not know. */
export const STREAM_FIELDS: FieldTypes = {
  StreamSpecification: {
    type: 'FieldStruct<StreamSpecification>',
    children: {
      StreamEnabled: { type: 'Boolean', notNull: true },
      StreamViewType: {
        type: 'String',
        enum: ['NEW_IMAGE', 'OLD_IMAGE', 'NEW_AND_OLD_IMAGES', 'KEYS_ONLY'],
      },
    },
  },
};
export const OTHER_FIELDS: FieldTypes = {
  DeletionProtectionEnabled: { type: 'Boolean' },
  TableClass: { type: 'String', enum: ['STANDARD', 'STANDARD_INFREQUENT_ACCESS'] },
  SSESpecification: {
    type: 'FieldStruct<SSESpecification>',
    children: {
      Enabled: { type: 'Boolean' },
      SSEType: { type: 'String', enum: ['AES256', 'KMS'] },
      KMSMasterKeyId: { type: 'String' },
    },
  },
};
const TAG_FIELDS: FieldTypes = {
  Tags: {
    type: 'List',
    children: {
      type: 'ValueStruct<Tag>',
      children: { Key: { type: 'String', notNull: true }, Value: { type: 'String', notNull: true } },
    },
  },
};

/** What CreateTable and UpdateTable may say beside dynalite's own fields. */
export interface TableSettings {
  StreamSpecification?: StreamSpecification;
  DeletionProtectionEnabled?: boolean;
  TableClass?: string;
  SSESpecification?: { Enabled?: boolean; SSEType?: string; KMSMasterKeyId?: string };
}
interface CreateRequest extends TableSettings {
  TableName: string;
  Tags?: { Key: string; Value: string }[];
}

export function extendCreateTable(engine: Engine): void {
  engine.extendValidation('CreateTable', { ...STREAM_FIELDS, ...OTHER_FIELDS, ...TAG_FIELDS });
}

/** Answers CREATING as AWS does, while the stored table is ACTIVE at once. */
export const createTable: Operation = (engine, request, meter) => {
  const data = engine.validate<Body & CreateRequest>('CreateTable', request);
  meter.touch(data.TableName);
  if (engine.findTable(data.TableName)) {
    throw serviceError('ResourceInUseException', `Table already exists: ${data.TableName}`);
  }
  const { StreamSpecification, DeletionProtectionEnabled, TableClass, SSESpecification, Tags, ...known } = data;
  const overlay = engine.overlay();
  // A copy, because dynalite goes on changing its own after it has answered.
  const created = structuredClone(engine.run('CreateTable', overlay, known)['TableDescription']) as TableDescription;
  created.CreationDateTime = engine.clock() / 1000;
  created.DeletionProtectionEnabled = DeletionProtectionEnabled ?? false;
  applySettings(created, { TableClass, SSESpecification });
  const streamOps = StreamSpecification ? engine.streams.specify(created, StreamSpecification) : [];
  const stored = structuredClone(created);
  stored.TableStatus = 'ACTIVE';
  for (const index of stored.GlobalSecondaryIndexes ?? []) index.IndexStatus = 'ACTIVE';
  if (stored.BillingModeSummary) {
    stored.BillingModeSummary.LastUpdateToPayPerRequestDateTime = stored.CreationDateTime;
  }
  engine.store.apply([
    { space: TABLES, key: data.TableName, value: stored },
    ...streamOps,
    ...(Tags ?? []).map(({ Key, Value }) => ({ space: tagSpace(data.TableName), key: Key, value: Value })),
  ]);
  return { TableDescription: created };
};

/** Settings that are kept and described but change nothing here. */
export function applySettings(
  table: TableDescription,
  settings: { [name in 'TableClass' | 'SSESpecification']?: TableSettings[name] | undefined },
): void {
  const { TableClass, SSESpecification } = settings;
  if (TableClass) table.TableClassSummary = { TableClass };
  if (SSESpecification?.Enabled) {
    table.SSEDescription = {
      Status: 'ENABLED',
      SSEType: SSESpecification.SSEType ?? 'KMS',
      ...(SSESpecification.KMSMasterKeyId ? { KMSMasterKeyArn: SSESpecification.KMSMasterKeyId } : {}),
    };
  } else if (SSESpecification) delete table.SSEDescription;
}
