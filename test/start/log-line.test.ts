import { describe, expect, it } from 'vitest';
import { logLine } from '../../lib/local/start/log-line.js';
import { plainItem, shortJson } from '../../lib/local/start/short-json.js';

const metrics = (members: object) =>
  JSON.stringify({
    _aws: { CloudWatchMetrics: [{ Metrics: [{ Name: 'Applied' }, { Name: 'Superseded' }, { Name: 'Duration' }] }] },
    message: 'ingest',
    ...members,
  });

describe('a line that a function prints', () => {
  it('becomes short where it is metrics: what is not 0, and why', () => {
    expect(logLine(metrics({ Applied: 2, Superseded: 0, Duration: 7 }))).toBe('ingest: Applied 2');
    expect(logLine(metrics({ Applied: 0, Superseded: 0 }))).toBe('ingest: nothing');
    expect(logLine(metrics({ Applied: 1, poisonReasons: { content: 1 }, errors: [{ name: 'E' }] }))).toBe(
      'ingest: Applied 1 poison {"content":1} errors [{"name":"E"}]',
    );
    expect(logLine(metrics({ Applied: 1, poisonReasons: {}, errors: [] }))).toBe('ingest: Applied 1');
  });

  it.each(['hello', '{"level":"INFO"}', '[1]', 'null', '{"_aws":null}', '{"_aws":{"CloudWatchMetrics":1}}'])(
    'stays as it is otherwise: %s',
    (line) => {
      expect(logLine(line)).toBe(line);
    },
  );
});

describe('what is shown of a value', () => {
  it('is one line without control characters, and not too long', () => {
    expect(shortJson({ a: 'x\ny' })).toBe('{"a":"x\\ny"}');
    expect(shortJson('a\u001b[31m\nb')).toBe('a [31m b');
    expect(shortJson('x'.repeat(500))).toBe(`${'x'.repeat(400)}…`);
  });

  it('is an item’s plain values', () => {
    expect(
      plainItem({
        s: { S: 'a' },
        n: { N: '1.5' },
        i: { N: '7' },
        large: { N: '12345678901234567890' },
        b: { BOOL: false },
        nothing: { NULL: true },
        m: { M: { l: { L: [{ S: 'x' }] } } },
        set: { SS: ['a'] },
      }),
    ).toEqual({
      ...{ s: 'a', n: '1.5', i: 7, large: '12345678901234567890', b: false, nothing: null, m: { l: ['x'] } },
      set: ['a'],
    });
  });
});
