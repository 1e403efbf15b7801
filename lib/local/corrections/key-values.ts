import { indexesOf } from '../engine/index-units.js';
import type { TableDescription, WireItem } from '../engine/types.js';

/** Key values that dynalite lets pass: too many bytes of UTF-8, or an empty value for an index; the message. */
export function badKeyValue(item: WireItem, table: TableDescription): string | undefined {
  const [hash, range] = table.KeySchema.map(({ AttributeName }) => item[AttributeName]);
  if (hash?.S !== undefined && Buffer.byteLength(hash.S) > 2048) {
    return 'One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes';
  }
  if (range?.S !== undefined && Buffer.byteLength(range.S) > 1024) {
    return 'One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes';
  }
  for (const { index } of indexesOf(table)) {
    for (const { AttributeName: name } of index.KeySchema) {
      const value = item[name];
      const kind = value?.S === '' ? 'string' : value?.B === '' ? 'binary' : undefined;
      if (kind) {
        return (
          'One or more parameter values are not valid. A value specified for a secondary index key is not supported. ' +
          `The AttributeValue for a key attribute cannot contain an empty ${kind} value. IndexName: ${index.IndexName}, IndexKey: ${name}`
        );
      }
    }
  }
  return undefined;
}
