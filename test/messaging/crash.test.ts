import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { Handled } from '../../lib/messaging/index.js';
import { bodyText, deferred, lost, messagingShop, rejection, type MessagingShop } from './support/messaging-shop.js';
import { Account, Process, depositHandler } from './support/transfer.js';

/**
 * What becomes of a request. Lost: the connection breaks, before it took effect or after. Killed: the process ends there.
 * Late: the process ends, and the request takes its way only after the message was delivered again.
 */
type Fate = 'fine' | 'lostBefore' | 'lostAfter' | 'killedBefore' | 'killedAfter' | 'late';
const fates: readonly Fate[] = ['lostBefore', 'lostAfter', 'killedBefore', 'killedAfter', 'late'];

let here: MessagingShop;
let names = 0;

beforeAll(async () => {
  here = await messagingShop();
});
afterAll(() => here.close());

const never = (): Promise<never> => new Promise(() => undefined);

/** A delivery whose requests meet their fates; undefined where its process was killed. `after` lets late requests go. */
const deliver = async (
  account: string,
  fateOf: (request: number) => Fate,
  options: { readFirst?: boolean; sdkAttempts?: number } = {},
): Promise<{ readonly ended: Handled | Error | undefined; readonly requests: number; after(): Promise<void> }> => {
  let requests = 0;
  const death = deferred();
  const late: (() => Promise<unknown>)[] = [];
  const die = (): Promise<never> => {
    death.resolve();
    return never();
  };
  const shop = here.through(async (_request, send) => {
    switch (fateOf(++requests)) {
      case 'lostBefore':
        throw lost();
      case 'lostAfter':
        await send();
        throw lost();
      case 'killedBefore':
        return die();
      case 'killedAfter':
        await send();
        return die();
      case 'late':
        late.push(send);
        return die();
      case 'fine':
        return send();
    }
  }, options.sdkAttempts ?? 1);
  const handler = depositHandler(shop, { consumer: account, readFirst: options.readFirst === true });
  const delivery = handler({ id: 'm1', account, amount: 5 }).catch((error: unknown) => error as Error);
  const ended = await Promise.race([delivery, death.promise]);
  return {
    ended: ended ?? undefined,
    requests,
    after: async () => void (await Promise.all(late.map((send) => send()))),
  };
};

const fine = (): Fate => 'fine';

/** That the message had its effect once, whatever went on. */
const expectOneEffect = async (account: string): Promise<void> => {
  const { inbox, outbox } = await here.stored(account);
  expect(inbox).toHaveLength(1);
  expect(outbox.map((item) => item['aggregate']?.S?.split(':')[1]).sort()).toEqual(['account', 'process', undefined]);
  const item = await here.shop.of(Account).get({ id: account }).consistent().item();
  expect(item).toEqual({ id: account, balance: 5, revision: 1 });
  const process = await here.shop.of(Process).get({ correlation: account }).consistent().item();
  expect(process).toMatchObject({ steps: 1, revision: 1 });
};

describe.each([{ readFirst: false }, { readFirst: true }])('a handler that reads first: $readFirst', (options) => {
  const requests = options.readFirst ? [1, 2, 3, 4] : [1, 2, 3];

  it('sends as many requests as these tests go through', async () => {
    const { requests: sent } = await deliver(`life${++names}x`, fine, options);
    expect(sent).toBe(requests.length);
  });

  describe.each(requests)('whose request %i', (request) => {
    it.each(fates)('is %s, and whose message comes again, has one effect', async (fate) => {
      const account = `crash${++names}x`;
      const first = await deliver(account, (sent) => (sent === request ? fate : 'fine'), options);
      const second = await deliver(account, fine, options);
      expect(['handled', 'duplicate']).toContain((second.ended as Handled).outcome);
      if (first.ended !== undefined && !(first.ended instanceof Error)) {
        expect(second.ended).toMatchObject({ outcome: 'duplicate' });
      }
      await first.after();
      await expectOneEffect(account);
    });
  });
});

describe('the commit', () => {
  const commit = 3;

  it('is sent again as it was where its response was lost, and the message counts as handled', async () => {
    const account = `again${++names}x`;
    const { ended, requests } = await deliver(account, (sent) => (sent === commit ? 'lostAfter' : 'fine'));
    expect(ended).toEqual({ outcome: 'handled', attempts: 1 });
    expect(requests).toBe(4);
    await expectOneEffect(account);
  });

  it('is settled by the record where no response ever comes', async () => {
    const account = `again${++names}x`;
    const { ended, requests } = await deliver(account, (sent) => (sent >= commit && sent < 6 ? 'lostAfter' : 'fine'));
    expect(ended).toEqual({ outcome: 'handled', attempts: 1 });
    expect(requests).toBe(6);
    await expectOneEffect(account);
  });

  it('that never got through is a run lost, and the next one commits', async () => {
    const account = `again${++names}x`;
    const { ended } = await deliver(account, (sent) => (sent >= commit && sent < 6 ? 'lostBefore' : 'fine'));
    expect(ended).toEqual({ outcome: 'handled', attempts: 2 });
    await expectOneEffect(account);
  });

  it('throws what it met where neither it nor the record is reached', async () => {
    const account = `again${++names}x`;
    const { ended } = await deliver(account, (sent) => (sent >= commit ? 'lostAfter' : 'fine'));
    expect(ended).toMatchObject({ name: 'ECONNRESET' });
    await deliver(account, fine);
    await expectOneEffect(account);
  });

  const between = (first: (request: unknown, send: () => Promise<unknown>) => unknown, now?: () => number) => {
    const tokens: string[] = [];
    const shop = here.through(async (request, send) => {
      if (request.operation !== 'TransactWriteItems') return send();
      tokens.push((JSON.parse(bodyText(request)) as { ClientRequestToken: string }).ClientRequestToken);
      return tokens.length === 1 ? first(request, send) : send();
    }, 1);
    const account = `between${++names}x`;
    return { account, tokens, handler: depositHandler(shop, { consumer: account, ...(now && { now }) }) };
  };
  const serviceError = (type: string, statusCode = 400, more = {}) => ({
    response: {
      statusCode,
      headers: { 'content-type': 'application/x-amz-json-1.0' },
      body: Buffer.from(
        JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'injected', ...more }),
      ),
    },
  });

  it.each([
    ['TransactionInProgressException', 400],
    ['InternalServerError', 500],
  ])('is sent again with its token after %s', async (type, status) => {
    const { account, tokens, handler } = between(async (_request, send) => {
      await send();
      return serviceError(type, status);
    });
    expect(await handler({ id: 'm1', account, amount: 5 })).toEqual({ outcome: 'handled', attempts: 1 });
    expect(tokens).toHaveLength(2);
    expect(tokens[1]).toBe(tokens[0]);
    await expectOneEffect(account);
  });

  it('is settled by the record after a token mismatch', async () => {
    const { account, tokens, handler } = between(async (_request, send) => {
      await send();
      return serviceError('IdempotentParameterMismatchException');
    });
    expect(await handler({ id: 'm1', account, amount: 5 })).toEqual({ outcome: 'handled', attempts: 1 });
    expect(tokens).toHaveLength(1);
    await expectOneEffect(account);
  });

  it('runs the handler again, with a new token, after a token mismatch of which no record is found', async () => {
    const { account, tokens, handler } = between(() => serviceError('IdempotentParameterMismatchException'));
    expect(await handler({ id: 'm1', account, amount: 5 })).toEqual({ outcome: 'handled', attempts: 2 });
    expect(tokens[1]).not.toBe(tokens[0]);
    await expectOneEffect(account);
  });

  it('is settled by the record where the token is older than ten minutes, as after a freeze', async () => {
    let time = Date.now();
    const { account, tokens, handler } = between(
      async (_request, send) => {
        await send();
        time += 601_000;
        throw lost();
      },
      () => time,
    );
    expect(await handler({ id: 'm1', account, amount: 5 })).toEqual({ outcome: 'handled', attempts: 1 });
    expect(tokens).toHaveLength(1);
    await expectOneEffect(account);
  });

  it('that meets another delivery of the message looks for its record before it runs the handler again', async () => {
    const { account, tokens, handler } = between(async () => {
      await depositHandler(here.shop, { consumer: account })({ id: 'm1', account, amount: 5 });
      const CancellationReasons = Array.from({ length: 6 }, () => ({ Code: 'TransactionConflict' }));
      return serviceError('TransactionCanceledException', 400, { CancellationReasons });
    });
    expect(await handler({ id: 'm1', account, amount: 5 })).toEqual({ outcome: 'duplicate', attempts: 1 });
    expect(tokens).toHaveLength(1);
    await expectOneEffect(account);
  });

  it('that DynamoDB refuses is thrown at once', async () => {
    const { account, tokens, handler } = between(() => serviceError('ValidationException'));
    expect(await rejection(handler({ id: 'm1', account, amount: 5 }))).toMatchObject({ name: 'ValidationException' });
    expect(tokens).toHaveLength(1);
    expect(await here.stored(account)).toEqual({ inbox: [], outbox: [], others: [] });
  });

  it('has one effect where the token is ignored, since the condition of the record is the guarantee', async () => {
    const account = `token${++names}x`;
    let sent = 0;
    const shop = here.through(async (request, send) => {
      if (request.operation !== 'TransactWriteItems') return send();
      request.body = bodyText(request).replace(
        /"ClientRequestToken":"[^"]*"/,
        `"ClientRequestToken":"other-${++sent}"`,
      );
      const answer = await send();
      if (sent < 3) throw lost();
      return answer;
    });
    const handler = depositHandler(shop, { consumer: account });
    const message = { id: 'm1', account, amount: 5 };
    expect(await handler(message)).toEqual({ outcome: 'handled', attempts: 1 });
    expect(sent).toBe(3);
    expect(await handler(message)).toEqual({ outcome: 'duplicate', attempts: 1 });
    await expectOneEffect(account);
  });
});

it.each([
  { atOnce: false, how: 'one after the other' },
  { atOnce: true, how: 'at once' },
])(
  'any number of deliveries $how, with any failures, leave one effect',
  async ({ atOnce }) => {
    const anyFate = fc.constantFrom<Fate>('fine', ...fates);
    const delivery = fc.record({
      fates: fc.array(anyFate, { maxLength: 8 }),
      readFirst: fc.boolean(),
      sdkAttempts: fc.constantFrom(1, 2),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(delivery, { minLength: 1, maxLength: 4 }), async (deliveries) => {
        const account = `any${++names}x`;
        const runs = deliveries.map(
          ({ fates, ...options }) =>
            () =>
              deliver(account, (request) => fates[request - 1] ?? 'fine', options),
        );
        const done = [];
        if (atOnce) done.push(...(await Promise.all(runs.map((run) => run()))));
        else for (const run of runs) done.push(await run());
        const outcomes = done.map(({ ended }) => (ended as Partial<Handled> | undefined)?.outcome);
        expect(outcomes.filter((outcome) => outcome === 'handled').length).toBeLessThanOrEqual(1);
        const last = await deliver(account, fine);
        expect(['handled', 'duplicate']).toContain((last.ended as Handled).outcome);
        for (const past of done) await past.after();
        await expectOneEffect(account);
      }),
      { numRuns: 60 },
    );
  },
  120_000,
);
