import type { FieldType } from '../engine/dynalite.js';

/** A table's name as most operations check it. */
export const TABLE_NAME: FieldType = {
  type: 'String',
  notNull: true,
  regex: '[a-zA-Z0-9_.-]+',
  lengthGreaterThanOrEqual: 3,
  lengthLessThanOrEqual: 255,
};

export const RETURN_CONSUMED_CAPACITY: FieldType = { type: 'String', enum: ['INDEXES', 'TOTAL', 'NONE'] };
