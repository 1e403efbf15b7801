import { Buffer } from 'node:buffer';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  OutcomeUnknownError,
  TransactionCanceledException,
  entity,
  integer,
  retryOnConflict,
  string,
  transactWrite,
  type CancellationCode,
  type Table,
} from '../../../lib/commands/index.js';
import { fresh, recipeShop, rejection, reset, type RecipeShop } from '../../support/recipe-shop.js';

const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer(), closed: string().optional() },
});

let here: RecipeShop;
beforeAll(async () => {
  here = await recipeShop();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});
afterAll(() => here.close());

/**
 * What an attempt meets. `late`: no answer, and it arrives when all the others have been answered. `lost`: it takes
 * effect, and its answer is lost. A list of codes: it is cancelled for these reasons.
 */
type Meets = 'late' | 'lost' | 'done' | 'inProgress' | 'throttled' | readonly (CancellationCode | 'None')[];

const refused = (type: string, members: object = {}): unknown => ({
  response: {
    statusCode: 400,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: Buffer.from(
      JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: type, ...members }),
    ),
  },
});

const text = (body: string | Uint8Array): string => (typeof body === 'string' ? body : new TextDecoder().decode(body));

/** A table whose transactions meet one thing after the other, the last of them again and again. */
const meeting = (all: readonly Meets[], maxAttempts?: number) => {
  const tokens: string[] = [];
  const late: (() => Promise<unknown>)[] = [];
  const shop = here.through(({ operation, body }, send) => {
    if (operation !== 'TransactWriteItems') return send();
    const { ClientRequestToken } = JSON.parse(text(body)) as { ClientRequestToken: string };
    const meets = all[Math.min(tokens.push(ClientRequestToken), all.length) - 1] as Meets;
    if (meets === 'late') {
      late.push(send);
      throw reset();
    }
    if (meets === 'lost')
      return send().then(() => {
        throw reset();
      });
    if (meets === 'done') return send();
    if (meets === 'inProgress') return refused('TransactionInProgressException');
    if (meets === 'throttled') return refused('ThrottlingException');
    const CancellationReasons = meets.map((Code) => ({ Code }));
    return refused('TransactionCanceledException', { CancellationReasons });
  }, maxAttempts);
  return {
    shop,
    tokens,
    different: () => new Set(tokens).size,
    arrive: async () => {
      for (const send of late) await send();
    },
  };
};

const conflict = ['TransactionConflict'] as const;
const balance = async (id: string): Promise<number> =>
  (await here.shop.of(Account).get({ id }).consistent().item())?.balance ?? 0;
const add = (shop: Table, id: string) => ({ account: shop.of(Account).update({ id }).add(Account.attrs.balance, 1) });

describe('an attempt of a transaction that was not answered and arrives late has no effect of its own', () => {
  it.each<[string, Meets[]]>([
    ['another transaction cancelled the next one', ['late', conflict, 'done']],
    ['others cancelled several', ['late', conflict, conflict, 'late', conflict, 'done']],
    ['the next one was throttled', ['late', ['ThrottlingError'], 'done']],
    ['its table was', ['late', ['ProvisionedThroughputExceeded'], conflict, 'done']],
    ['it was still in progress', ['late', 'inProgress', 'inProgress', 'inProgress', 'inProgress', conflict, 'done']],
    ['all were throttled, and then cancelled', ['late', 'throttled', 'throttled', conflict, 'done']],
    ['it took effect, and the next were still told of another', ['lost', conflict, conflict, 'done']],
  ])('where %s', async (_, all) => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const id = fresh();
    const { shop, different, arrive } = meeting(all);
    const fn = vi.fn(() => transactWrite(shop, add(shop, id)).send());
    await retryOnConflict(fn);
    await arrive();
    expect(await balance(id)).toBe(1);
    expect(different()).toBe(1);
    expect(fn).toHaveBeenCalledOnce();
  });

  it('also where the same built transaction is sent again by its caller', async () => {
    const id = fresh();
    const { shop, arrive } = meeting(['late', conflict, 'done'], 1);
    const built = transactWrite(shop, add(shop, id)).build();
    await expect(built.send()).rejects.toThrow('socket hang up');
    await built.send();
    await arrive();
    expect(await balance(id)).toBe(1);
  });
});

describe('a cancelled transaction', () => {
  it('of which no attempt is open is left to the next run', async () => {
    const id = fresh();
    const { shop, different } = meeting([conflict, conflict, 'done']);
    const fn = vi.fn(() => transactWrite(shop, add(shop, id)).send());
    await retryOnConflict(fn);
    expect(fn).toHaveBeenCalledTimes(3);
    expect(different()).toBe(3);
    expect(await balance(id)).toBe(1);
  });

  it.each<[string, Meets]>([
    ['a failed condition', ['ConditionalCheckFailed']],
    ['a failed condition beside a conflict', ['ConditionalCheckFailed', 'TransactionConflict']],
  ])('with %s is answered, also after an attempt without an answer', async (_, meets) => {
    const id = fresh();
    const { shop, tokens } = meeting(['late', meets]);
    const steps = { ...add(shop, id), other: shop.of(Account).update({ id: fresh() }).add(Account.attrs.balance, 1) };
    const outcome = await transactWrite(shop, steps).trySend();
    expect(outcome).toMatchObject({ committed: false, failed: { account: { reason: 'ConditionalCheckFailed' } } });
    expect(tokens).toHaveLength(2);
  });

  it('for what will not pass is thrown at once', async () => {
    const { shop, tokens } = meeting(['late', ['ItemCollectionSizeLimitExceeded']]);
    const error = await rejection(transactWrite(shop, add(shop, fresh())).send());
    expect(error).toBeInstanceOf(TransactionCanceledException);
    expect(tokens).toHaveLength(2);
  });
});

describe('a transaction that is cancelled each time, after an attempt without an answer', () => {
  it('ends with an unknown outcome, which no run follows; the same one again is safe', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const id = fresh();
    const { shop, tokens, different, arrive } = meeting(['late', ...Array<Meets>(8).fill(conflict), conflict, 'done']);
    const built = transactWrite(shop, add(shop, id)).build();
    const fn = vi.fn(() => built.send());
    const error = await rejection(retryOnConflict(fn));
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect((error as OutcomeUnknownError).failed).toEqual({ account: { reason: 'TransactionConflict' } });
    expect(JSON.stringify(error)).not.toContain(id);
    expect(fn).toHaveBeenCalledOnce();
    expect(tokens).toHaveLength(9);
    await built.send();
    await arrive();
    expect(await balance(id)).toBe(1);
    expect(different()).toBe(1);
  });

  it('is not sent again when its token may be forgotten', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    vi.useFakeTimers({ toFake: ['Date'] });
    const { shop, tokens } = meeting(['late', conflict]);
    const sent = transactWrite(shop, add(shop, fresh())).send();
    vi.setSystemTime(Date.now() + 599_000);
    expect(await rejection(sent)).toBeInstanceOf(OutcomeUnknownError);
    expect(tokens).toHaveLength(2);
  });

  it('is not sent again when the process was frozen in the wait before it', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { shop, tokens } = meeting(['late', conflict, 'done']);
    vi.spyOn(Math, 'random').mockImplementation(() => {
      // Of the wait after the second attempt.
      if (tokens.length === 2) vi.setSystemTime(Date.now() + 599_000);
      return 0;
    });
    expect(await rejection(transactWrite(shop, add(shop, fresh())).send())).toBeInstanceOf(OutcomeUnknownError);
    expect(tokens).toHaveLength(2);
  });

  it('is not sent again after its signal', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.9);
    const abort = new AbortController();
    const { shop, tokens } = meeting(['late', conflict]);
    const sent = transactWrite(shop, add(shop, fresh())).send({ signal: abort.signal });
    await vi.waitFor(() => expect(tokens).toHaveLength(2));
    abort.abort(new Error('enough'));
    expect(await rejection(sent)).toMatchObject({ name: 'AbortError' });
    expect(tokens.length).toBeLessThan(4);
  });
});
