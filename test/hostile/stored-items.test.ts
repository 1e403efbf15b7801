import { PutItemCommand, type AttributeValue } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  batchGet,
  bigint,
  binary,
  boolean,
  calendarDate,
  decimal,
  entity,
  instant,
  integer,
  list,
  map,
  number,
  numberSet,
  oneOf,
  record,
  scan,
  string,
  stringSet,
  timeToLive,
  timestamp,
  transactGet,
  uuid,
  version,
  type AttributeMap,
} from '../../lib/commands/index.js';
import { streamChanges } from '../../lib/events/index.js';
import { toObject } from '../../lib/messaging/index.js';
import { secret, texts } from './corpus.js';
import { hostileShop } from './hostile-shop.js';
import { hostileText, refusesOrTakes } from './hostile-values.js';

const Thing = entity('THING', {
  pk: 'THING#{id}',
  sk: 'THING',
  attributes: {
    id: string(),
    big: bigint().optional(),
    bytes: binary().optional(),
    flag: boolean().optional(),
    day: calendarDate().optional(),
    exact: decimal().optional(),
    moment: instant().optional(),
    whole: integer().optional(),
    rough: number().optional(),
    numbers: numberSet().optional(),
    one: oneOf('A', 'B').optional(),
    labels: record(list(string())).optional(),
    place: map({ city: string(), inner: map({ deep: stringSet() }).optional() }).optional(),
    tags: stringSet().optional(),
    expires: timeToLive().optional(),
    at: timestamp().optional(),
    uid: uuid().optional(),
    revision: version(),
  },
});

const digits = fc.constantFrom('0', '-0', '1e125', '-9.9e125', '1e-130', '9007199254740993', '0.1', '1'.repeat(38));
const text = fc.oneof(hostileText, fc.constantFrom(...texts)).filter((value) => value.isWellFormed());
// The SDK cannot read the one that it leaves out: a TypeError of its own, in the answer of a failed condition.
const name = fc.oneof(text, fc.constantFrom('city', 'inner', 'deep', 'S')).filter((one) => one !== '__proto__');
const value: fc.Arbitrary<AttributeValue> = fc.letrec<{ value: AttributeValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text.map((S) => ({ S })),
    digits.map((N) => ({ N })),
    fc.boolean().map((BOOL) => ({ BOOL })),
    fc.constant<AttributeValue>({ NULL: true }),
    text.map((B) => ({ B: Buffer.from(B) })),
    text.map((one) => ({ SS: [one, `${one}2`] })),
    digits.map((one) => ({ NS: [one, '7'] })),
    fc.array(tie('value'), { maxLength: 3 }).map((L) => ({ L })),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }).map((M) => ({ M })),
  ),
})).value;

const fields = Object.keys(Thing.attrs).map((name) => (name === 'expires' ? 'ttl' : name));
const item: fc.Arbitrary<AttributeMap> = fc
  .dictionary(
    fc.oneof(fc.constantFrom(...fields, '_type'), fc.constantFrom('constructor', 'toString', secret)),
    value,
    { minKeys: 1, maxKeys: 4 },
  )
  .map((members) => ({ _type: { S: 'THING' }, id: { S: 'a' }, revision: { N: '1' }, ...members }));

const here = hostileShop();

it('an item that does not match its entity is read as it is, or refused by an error that quotes nothing', async () => {
  const things = here.shop.of(Thing);
  const changes = streamChanges(here.shop, [Thing]);
  const key = { id: 'a' };
  await fc.assert(
    fc.asyncProperty(item, async (members) => {
      const Item = { ...members, pk: { S: 'THING#a' }, sk: { S: 'THING' } };
      try {
        await here.shop.client.send(new PutItemCommand({ TableName: here.shop.name, Item }));
      } catch {
        return;
      }
      for (const read of [
        () => things.get(key).item(),
        () => things.get(key).select(Thing.attrs.place.city).send(),
        () => things.get(key).select(Thing.attrs.labels.at('constructor')).send(),
        () => things.query(key).all(),
        () => scan(things).all(),
        () => batchGet(here.shop, { a: things.get(key) }).send(),
        () => transactGet(here.shop, { a: things.get(key) }).send(),
        () => things.update(key).set({ flag: true }).ignoreVersion().returnOld().send(),
        () => things.put({ id: 'a', revision: 7 }).returnOldOnFailure().trySend(),
        () => toObject(Item),
      ]) {
        await refusesOrTakes(read);
      }
      const image = JSON.parse(JSON.stringify(Item, (_, one: unknown) => one)) as never;
      const dynamodb = { Keys: { pk: { S: 'THING#a' }, sk: { S: 'THING' } }, NewImage: image, OldImage: image };
      await refusesOrTakes(() => changes.decode({ eventName: 'MODIFY', dynamodb }));
    }),
    { numRuns: 200 },
  );
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});
