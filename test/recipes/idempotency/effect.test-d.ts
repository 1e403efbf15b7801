import { expectTypeOf, test } from 'vitest';
import { conditionCheck, entity, string, table, type CancellationCode } from '../../../lib/commands/index.js';
import { commit, idempotentTransaction, refuse, type Answer, type Effect } from '../../../lib/recipes/index.js';

const Note = entity('NOTE', { pk: 'NOTE#{id}', sk: 'N', attributes: { id: string() } });
const shop = table({ name: 'shop', client: undefined as never });
const notes = shop.of(Note);

test('a failed step is known by its name, with what it saw where it asked', () => {
  commit(
    { note: notes.put({ id: 'a' }), check: conditionCheck(notes, { id: 'b' }).returnOldOnFailure() },
    1,
    (failed) => {
      expectTypeOf(failed.note?.reason).toEqualTypeOf<CancellationCode | undefined>();
      expectTypeOf(failed.check?.item?.id).toEqualTypeOf<string | undefined>();
      // @ts-expect-error no step has this name
      return failed.other ? 1 : undefined;
    },
  );
});

test('an effect is of its answer', () => {
  expectTypeOf(refuse({ body: 'a' })).toExtend<Effect<Answer>>();
  expectTypeOf(commit({ note: notes.put({ id: 'a' }) }, { body: 'a' })).toExtend<Effect<Answer>>();
  expectTypeOf(commit({}, 1)).not.toExtend<Effect<Answer>>();
});

test('steps are commands', () => {
  // @ts-expect-error a read is no step
  commit({ note: notes.get({ id: 'a' }) }, {});
});

test('only what has an answer has one', () => {
  void idempotentTransaction(shop, undefined as never).then((result) => {
    if (result.outcome === 'mismatch') expectTypeOf(result.answer).toEqualTypeOf<undefined>();
    else if (result.replayed) expectTypeOf(result.answer).toEqualTypeOf<Answer>();
  });
});
