import { serviceError } from '../engine/api-error.js';
import type { FieldTypes } from '../engine/dynalite.js';
import type { Engine } from '../engine/engine.js';
import { BACKUPS } from '../engine/store.js';
import type { Meter } from '../engine/meter.js';
import type { Body } from '../engine/types.js';
import { TABLE_NAME } from './fields.js';
import type { Operation } from './operation.js';

const UPDATE_TYPES: FieldTypes = {
  TableName: TABLE_NAME,
  PointInTimeRecoverySpecification: {
    type: 'FieldStruct<PointInTimeRecoverySpecification>',
    notNull: true,
    children: { PointInTimeRecoveryEnabled: { type: 'Boolean', notNull: true } },
  },
};

interface UpdateRequest {
  TableName: string;
  PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: boolean };
}

/** Point-in-time recovery is a setting that is kept and told, and nothing more. */
export const updateContinuousBackups: Operation = (engine, request, meter) => {
  const data = engine.check(request, UPDATE_TYPES) as Body & UpdateRequest;
  requireTable(engine, data.TableName, meter);
  const { PointInTimeRecoveryEnabled: enabled } = data.PointInTimeRecoverySpecification;
  engine.store.apply([{ space: BACKUPS, key: data.TableName, value: enabled || undefined }]);
  return description(engine, data.TableName);
};

export const describeContinuousBackups: Operation = (engine, request, meter) => {
  const data = engine.check(request, { TableName: TABLE_NAME }) as Body & { TableName: string };
  requireTable(engine, data.TableName, meter);
  return description(engine, data.TableName);
};

function requireTable(engine: Engine, name: string, meter: Meter): void {
  meter.touch(name);
  if (!engine.findTable(name)) throw serviceError('TableNotFoundException', `Table not found: ${name}`);
}

function description(engine: Engine, name: string): Body {
  const enabled = engine.store.space<boolean>(BACKUPS).get(name) === true;
  return {
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: 'ENABLED',
      PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: enabled ? 'ENABLED' : 'DISABLED' },
    },
  };
}
