import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entity, string, type AttributeMap } from '../../lib/commands/index.js';
import { commit, idempotent, type CallLine, type HttpEvent, type HttpResult } from '../../lib/http/index.js';
import { chargeHandler } from '../../lambdas/charge/charge-handler.js';
import { functionUrlEvent, httpEvent } from '../http/http-event.js';
import { testTable } from '../http/test-table.js';
import { jsonTexts, secret, texts } from './corpus.js';
import { expectNoSecret, hostileText, mutated, witnessEach } from './hostile-values.js';

const body = { customerId: 'alice', amount: 100, currency: 'CHF' };
/** The gateway makes the id of a request, and it is told on purpose. */
const gatewayOwns = (path: string): boolean => path === 'requestContext' || path.endsWith('requestId') || path === '';

witnessEach();

const charges = async () => {
  const test = await testTable();
  const lines: CallLine[] = [];
  const handler = chargeHandler(test.table, { log: (line) => lines.push(line) });
  return { ...test, lines, handler };
};

/** What every answer must be: a status that HTTP has, and no line or problem that tells of the request. */
const check = (answer: HttpResult, lines: CallLine[]): void => {
  expect(answer.statusCode).toBeGreaterThanOrEqual(200);
  expect(answer.statusCode).toBeLessThan(600);
  for (const [name, value] of Object.entries(answer.headers)) expect(`${name}${value}`).not.toMatch(/[\r\n]/);
  // Whoever sent a body is told which of its members is wrong.
  if (answer.statusCode >= 400) expectNoSecret({ ...answer, body: answer.body?.replace(/"pointer":"[^"]*"/g, '') });
  const line = lines.at(-1);
  expectNoSecret(line);
  // A bug of ours would be told as an error that is none of the kit's.
  if (answer.statusCode === 500) expect(line?.errorName).toBe('InvalidInputError');
};

describe.each([
  ['of an HTTP API', httpEvent({ body, path: '/charges' })],
  ['of a function URL', functionUrlEvent({ body, path: '/charges' })],
  ['with a body in base64', httpEvent({ body, path: '/charges', base64: true })],
  [
    'with a JWT',
    httpEvent({ body, authorizer: { jwt: { claims: { iss: 'https://issuer', sub: 'alice' }, scopes: null } } }),
  ],
])('an event %s', (_, good) => {
  it('with hostile parts is answered, and tells nothing', async () => {
    const { handler, lines, items } = await charges();
    await fc.assert(
      fc.asyncProperty(mutated(good, gatewayOwns), async (event) => {
        check(await handler(event as HttpEvent), lines);
      }),
      { numRuns: 150 },
    );
    const kinds = /^(CHARGE|IDEMPOTENCY|OUTBOX)#/;
    for (const { pk } of await items()) expect(pk?.S).toMatch(kinds);
  });
});

it('an event that is none is answered with 500, and told as such', async () => {
  const { handler, lines } = await charges();
  for (const event of [undefined, null, 'x', 7, [], {}, { requestContext: null }, { requestContext: { http: null } }]) {
    const answer = await handler(event as never);
    expect(answer.statusCode).toBe(500);
    check(answer, lines);
  }
});

it('bodies that are more than they seem are refused or taken, and told nowhere', async () => {
  const { handler, lines } = await charges();
  const bodies = [...jsonTexts, ...texts.map((text) => JSON.stringify({ ...body, customerId: `${text}${secret}` }))];
  for (const [i, text] of bodies.entries()) check(await handler(httpEvent({ key: `k${i}`, body: text })), lines);
});

describe('a key', () => {
  const Note = entity('NOTE', { pk: 'NOTE#{id}', sk: 'NOTE', attributes: { id: string() } });
  const as = (userId: string, more: object = {}) => httpEvent({ body: {}, authorizer: { iam: { userId } }, ...more });
  const endpoint = async () => {
    const test = await testTable();
    const runs: string[] = [];
    const handler = idempotent({
      table: test.table,
      log: () => undefined,
      handle: (_, { event }) => {
        const { userId } = (event.requestContext.authorizer as { iam: { userId: string } }).iam;
        runs.push(userId);
        const answer = { status: 201, body: { for: userId } };
        return commit({ note: test.table.of(Note).put({ id: `n${runs.length}` }) }, answer);
      },
    });
    return { handler, runs, items: test.items };
  };
  const partition = ({ pk }: AttributeMap): string | undefined => pk?.S;

  it("of another caller is another key: a stolen one answers nothing of its owner's", async () => {
    const { handler, runs, items } = await endpoint();
    const mine = await handler(as('AIDAOWNER', { key: 'stolen' }));
    const theirs = await handler(as('AIDATHIEF', { key: 'stolen' }));
    expect(theirs).not.toMatchObject({ body: mine.body });
    expect(theirs.headers).not.toHaveProperty('idempotent-replayed');
    expect(runs).toEqual(['AIDAOWNER', 'AIDATHIEF']);
    const records = (await items()).map(partition).filter((pk) => pk?.startsWith('IDEMPOTENCY#'));
    expect(new Set(records).size).toBe(2);
  });

  it('never meets that of another scope, whatever scope, route and key are made of', async () => {
    const { handler, items } = await endpoint();
    const printable = fc.constantFrom('#', '/', '"', '%', '%23', ',', '[', ']', ':', 'a', '##', '","', '#a', 'a#');
    const part = fc.array(printable, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''));
    const seen = new Map<string, string>();
    await fc.assert(
      fc.asyncProperty(part, part, part, async (caller, path, key) => {
        const quoted = `"${key.replace(/["\\]/g, '\\$&')}"`;
        const event = as(caller, { path: `/${path}`, key: quoted });
        const before = new Set((await items('IDEMPOTENCY')).map(partition));
        const { statusCode, headers } = await handler(event);
        if (statusCode !== 201 || headers['idempotent-replayed'] === 'true') return;
        const [own = ''] = (await items('IDEMPOTENCY')).map(partition).filter((pk) => !before.has(pk));
        const said = JSON.stringify([caller.split(':')[0], path, key]);
        expect(seen.get(own) ?? said).toBe(said);
        seen.set(own, said);
      }),
      { numRuns: 40 },
    );
  });

  it('with anything in it is taken or refused, and told nowhere', async () => {
    const { handler, lines } = await charges();
    await fc.assert(
      fc.asyncProperty(hostileText, async (key) => check(await handler(httpEvent({ key, body })), lines)),
      { numRuns: 80, examples: texts.map((text) => [`${text}${secret}`]) },
    );
  });
});
