import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInputError } from '../../lib/commands/index.js';
import { toItem, toObject } from '../../lib/messaging/index.js';
import { secret, texts } from './corpus.js';
import { hostileJson, hostileText, hostileValue, refusesOrTakes } from './hostile-values.js';

describe('any object at all becomes an item that can be read again, or is refused', () => {
  const check = (object: unknown, options?: unknown) =>
    refusesOrTakes(() => {
      const item = toItem(object as object, options as never);
      const again = toItem(toObject(item), {});
      if (options === undefined) expect(again).toEqual(item);
    });

  it('by toItem', async () => {
    await fc.assert(
      fc.asyncProperty(hostileValue, hostileText, async (make, name) => {
        await check(make());
        await check({ [name]: make() });
        await check({ a: [make()], b: new Set([make()]), c: new Map([[name, make()]]) });
        await check({ id: make() }, { names: { id: name } });
        await check({ id: 1 }, { names: make() });
        await check({ id: 1 }, make());
      }),
      { numRuns: 200 },
    );
    for (const options of [null, 'x', { names: 7 }, { names: 'x' }, { names: [] }] as never[]) {
      expect(() => toItem({ id: 1 }, options)).toThrow(InvalidInputError);
      expect(() => toObject({ id: { N: '1' } }, options)).toThrow(InvalidInputError);
    }
    await check({ id: 1 }, { names: null });
    for (const text of texts) await check({ [text]: text, [`${text}${secret}`]: [text] });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('by toObject', async () => {
    await fc.assert(
      fc.asyncProperty(hostileJson, hostileValue, async (json, make) => {
        for (const value of [json, make()]) {
          await refusesOrTakes(() => toObject(value as never));
          await refusesOrTakes(() => toObject({ a: value as never }));
          await refusesOrTakes(() => toObject({ a: { M: value as never }, b: { L: value as never } }));
          await refusesOrTakes(() => toObject({ a: { N: value as never } }));
          await refusesOrTakes(() => toObject({ a: { SS: value as never }, b: { B: value as never } }));
        }
      }),
      { numRuns: 200 },
    );
  });
});
