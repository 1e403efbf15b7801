import { tableNotFound, validationError } from '../engine/api-error.js';
import type { FieldTypes } from '../engine/dynalite.js';
import { TIME_TO_LIVE } from '../engine/store.js';
import type { Body } from '../engine/types.js';
import { TABLE_NAME } from './fields.js';
import type { Operation } from './operation.js';

const UPDATE_TYPES: FieldTypes = {
  TableName: TABLE_NAME,
  TimeToLiveSpecification: {
    type: 'FieldStruct<TimeToLiveSpecification>',
    notNull: true,
    children: {
      AttributeName: { type: 'String', notNull: true, lengthGreaterThanOrEqual: 1, lengthLessThanOrEqual: 255 },
      Enabled: { type: 'Boolean', notNull: true },
    },
  },
};

/** What is stored of a table's setting. */
export interface TimeToLive {
  AttributeName: string;
}

interface UpdateRequest {
  TableName: string;
  TimeToLiveSpecification: { AttributeName: string; Enabled: boolean };
}

export const updateTimeToLive: Operation = (engine, request, meter) => {
  const data = engine.check(request, UPDATE_TYPES) as Body & UpdateRequest;
  meter.touch(data.TableName);
  if (!engine.findTable(data.TableName)) throw tableNotFound(data.TableName);
  const { AttributeName, Enabled } = data.TimeToLiveSpecification;
  const current = engine.store.space<TimeToLive>(TIME_TO_LIVE).get(data.TableName);
  if (Enabled && current) throw validationError('TimeToLive is already enabled');
  if (!Enabled && !current) throw validationError('TimeToLive is already disabled');
  if (current && current.AttributeName !== AttributeName) {
    throw validationError(
      `TimeToLive is active on a different AttributeName: current AttributeName is ${current.AttributeName}`,
    );
  }
  engine.store.apply([{ space: TIME_TO_LIVE, key: data.TableName, value: Enabled ? { AttributeName } : undefined }]);
  return { TimeToLiveSpecification: { AttributeName, Enabled } };
};

export const describeTimeToLive: Operation = (engine, request, meter) => {
  const data = engine.check(request, { TableName: TABLE_NAME }) as Body & { TableName: string };
  meter.touch(data.TableName);
  if (!engine.findTable(data.TableName)) throw tableNotFound(data.TableName);
  const current = engine.store.space<TimeToLive>(TIME_TO_LIVE).get(data.TableName);
  return {
    TimeToLiveDescription: current
      ? { TimeToLiveStatus: 'ENABLED', AttributeName: current.AttributeName }
      : { TimeToLiveStatus: 'DISABLED' },
  };
};
