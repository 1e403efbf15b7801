import { describe, expect, it } from 'vitest';
import { readCursor, writeCursor } from '../../../lib/commands/read/cursor.js';

describe('a cursor', () => {
  // Keys of four lengths, so that its text ends at each place of a base64 group.
  it.each(['a', 'ab', 'abc', 'abcd'])('is taken as it was written, and in no other spelling (%s)', (sk) => {
    const query = ['shop', 'pk'];
    const cursor = writeCursor({ sk: { S: sk } }, ['sk'], query);
    expect(readCursor(cursor, ['sk'], query)).toEqual({ sk: { S: sk } });
    for (const other of [`${cursor}x`, `${cursor}xy`, `${cursor}=`, ` ${cursor}`, `${cursor}\n`, `${cursor}-_`]) {
      expect(() => readCursor(other, ['sk'], query), other).toThrow(/expected the cursor of a page/);
    }
  });
});
