import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as commands from '../../lib/commands/index.js';
import * as eventBridge from '../../lib/events/targets/eventbridge/index.js';
import * as sns from '../../lib/events/targets/sns/index.js';
import * as sqs from '../../lib/events/targets/sqs/index.js';
import * as events from '../../lib/events/index.js';
import * as http from '../../lib/http/index.js';
import * as messaging from '../../lib/messaging/index.js';
import * as recipes from '../../lib/recipes/index.js';
import { secret } from './corpus.js';
import { hostileShop } from './hostile-shop.js';
import { expectRefusal, hostileValue } from './hostile-values.js';
import { expectNoUnhandledRejections } from './unhandled-rejections.js';

const Note = commands.entity('NOTE', {
  pk: 'NOTE#{id}',
  sk: 'NOTE',
  attributes: { id: commands.string(), count: commands.integer().optional(), revision: commands.version() },
});
const Mail = commands.entity('MAIL', {
  pk: 'MAIL#{address}',
  sk: 'CLAIM',
  attributes: { address: commands.string(), owner: commands.string() },
});

const here = hostileShop();
expectNoUnhandledRejections();

/** What is right in some place, so that a call gets further than its first argument. */
const sane: fc.Arbitrary<() => unknown> = fc.constantFrom<() => unknown>(
  () => here.shop,
  () => here.shop.of(Note),
  () => here.shop.of(Mail),
  () => Note,
  () => Note.attrs.count,
  () => commands.string(),
  () => ({ id: 'a' }),
  () => ({ address: 'a', owner: 'b' }),
  () => ({ name: 'n', shards: 2 }),
  () => ({ source: 'shop' }),
  () => ({ table: here.shop, shards: 1 }),
  () => ({ publish: () => Promise.resolve([]) }),
  () => ({ a: here.shop.of(Note).get({ id: 'a' }) }),
  () => ({ a: here.shop.of(Mail).put({ address: 'a', owner: 'b' }) }),
  () => [here.shop.of(Mail).put({ address: 'a', owner: 'b' })],
  () => () => undefined,
  () => () => Promise.resolve({}),
  () => 'text',
  () => 1,
  () => new Date(),
  () => ({}),
);
const any = fc.oneof({ weight: 3, arbitrary: sane }, { weight: 2, arbitrary: hostileValue });
/** Options with members that functions look for, some of them wrong. */
const members = [
  ...['table', 'options', 'name', 'handle', 'from', 'decode', 'target', 'client', 'queueUrl', 'topicArn', 'busName'],
  ...['id', 'item', 'owner', 'claims', 'run', 'key', 'scope', 'route', 'fingerprint', 'horizonSeconds'],
  ...['consumer', 'signal', 'version', 'groups', 'entities', 'map', 'source'],
];
const options: fc.Arbitrary<() => unknown> = fc
  .dictionary(fc.constantFrom(...members), any, { maxKeys: 6 })
  .map((made) => () => Object.fromEntries(Object.entries(made).map(([name, make]) => [name, make()])));
const argument = fc.oneof({ weight: 5, arbitrary: any }, { weight: 2, arbitrary: options });

const parts: Record<string, Record<string, unknown>> = {
  ...{ commands, recipes, messaging, events, http },
  ...{ eventBridge, sns, sqs },
};
const isError = (value: { prototype?: unknown }): boolean => value.prototype instanceof Error;
const isClass = (value: unknown): boolean => /^class\b/.test(Function.prototype.toString.call(value));
const functions = Object.entries(parts).flatMap(([part, exported]) =>
  Object.entries(exported).flatMap(([name, value]) =>
    // What traces is given OpenTelemetry, and what makes a client an environment.
    // A Lock is made by Locks alone.
    typeof value === 'function' &&
    !isError(value) &&
    !['traceWithOpenTelemetry', 'dynamoDBClient', 'Lock'].includes(name)
      ? [[`${part}.${name}`, value as (...given: unknown[]) => unknown] as const]
      : [],
  ),
);

/** What takes names that code gives, those of steps among them, and says them where they are wrong. */
const named =
  /\.(entity|sagaEntity|\w+Entity|bodyPath|headerId|bodySchema|table|collection|transactWrite|transactGet|joinSteps)$/;

/** Whatever a command, a query or a handler is waited for by. */
const waitFor = async (result: unknown): Promise<void> => {
  const given: unknown = await result;
  if (typeof given === 'function') await (given as (event: unknown) => unknown)({ Records: [] });
};

describe('what a JavaScript user may hand over', () => {
  it.each(functions)('is taken by %s, or refused by an error of the kit', { timeout: 60_000 }, async (name, fn) => {
    await fc.assert(
      fc.asyncProperty(fc.array(argument, { maxLength: 4 }), async (makes) => {
        const given = makes.map((make) => make());
        try {
          await waitFor(isClass(fn) ? Reflect.construct(fn, given) : fn(...given));
        } catch (error) {
          // The SDK's own, as it is: a table that is there already.
          if ((error as { $metadata?: unknown } | null)?.$metadata !== undefined) return;
          if (named.test(name) && error instanceof commands.SafeWritesError) return;
          expectRefusal(error);
        }
      }),
      { numRuns: 100 },
    );
    expect(secret in {}).toBe(false);
  });
});
