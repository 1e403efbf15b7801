/* eslint-disable @typescript-eslint/unbound-method -- only the types of methods are looked at */
import { describe, expectTypeOf, test } from 'vitest';
import {
  bigint,
  binary,
  binarySet,
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
  string,
  stringSet,
  timeToLive,
  timestamp,
  uuid,
  version,
  type Attribute,
  type Input,
  type Item,
  type Table,
  type Timestamp,
} from '../../lib/commands/index.js';

class Money {
  constructor(readonly text: string) {}
}

const Everything = entity('EVERYTHING', {
  pk: 'E#{text}#{id}',
  sk: '{at}#{count:10}#{text}',
  attributes: {
    text: string(),
    id: uuid(),
    at: instant(),
    count: integer(),
    ratio: number(),
    big: bigint(),
    exact: decimal(),
    money: decimal(Money),
    flag: boolean(),
    bytes: binary(),
    stamp: timestamp(),
    day: calendarDate(),
    status: oneOf('OPEN', 'PAID'),
    tags: stringSet(),
    scores: numberSet(),
    hashes: binarySet(),
    lines: list(string()),
    labels: record(integer()),
    shipTo: map({ city: string(), zip: string().optional(), since: integer().default(0) }),
    expiresAt: timeToLive().optional(),
    note: string().optional(),
    total: integer().default(0),
    kelvin: number()
      .via({ encode: (celsius: string) => Number(celsius), decode: String })
      .optional(),
    renamed: string().savedAs('r'),
    revision: version(),
  },
  indexes: { byStatus: { pk: 'STATUS#{status}', sk: '{day}' } },
});
type Everything = Item<typeof Everything>;
declare const shop: Table;
const everything = shop.of(Everything);

describe('Item', () => {
  test('holds what each kind reads', () => {
    expectTypeOf<Everything['text']>().toEqualTypeOf<string>();
    expectTypeOf<Everything['id']>().toEqualTypeOf<string>();
    expectTypeOf<Everything['at']>().toEqualTypeOf<Date>();
    expectTypeOf<Everything['count']>().toEqualTypeOf<number>();
    expectTypeOf<Everything['big']>().toEqualTypeOf<bigint>();
    expectTypeOf<Everything['exact']>().toEqualTypeOf<string>();
    expectTypeOf<Everything['money']>().toEqualTypeOf<Money>();
    expectTypeOf<Everything['flag']>().toEqualTypeOf<boolean>();
    expectTypeOf<Everything['bytes']>().toEqualTypeOf<Uint8Array>();
    expectTypeOf<Everything['stamp']>().toEqualTypeOf<Timestamp>();
    expectTypeOf<Everything['day']>().toEqualTypeOf<string>();
    expectTypeOf<Everything['status']>().toEqualTypeOf<'OPEN' | 'PAID'>();
    expectTypeOf<Everything['tags']>().toEqualTypeOf<ReadonlySet<string>>();
    expectTypeOf<Everything['scores']>().toEqualTypeOf<ReadonlySet<number>>();
    expectTypeOf<Everything['hashes']>().toEqualTypeOf<ReadonlySet<Uint8Array>>();
    expectTypeOf<Everything['lines']>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<Everything['labels']>().toEqualTypeOf<Readonly<Record<string, number>>>();
    expectTypeOf<Everything['renamed']>().toEqualTypeOf<string>();
    expectTypeOf<Everything['revision']>().toEqualTypeOf<number>();
  });

  test('has optional members, and defaulted ones that are always read', () => {
    expectTypeOf<Everything['note']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Everything['expiresAt']>().toEqualTypeOf<Date | undefined>();
    expectTypeOf<Everything['kelvin']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Everything['total']>().toEqualTypeOf<number>();
    expectTypeOf<Everything['shipTo']['zip']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Everything['shipTo']['since']>().toEqualTypeOf<number>();
    const minimal = { city: 'Bern', since: 0 };
    expectTypeOf(minimal).toExtend<Everything['shipTo']>();
  });

  test('may be extended by an interface', () => {
    interface Listed extends Everything {
      readonly score: number;
    }
    expectTypeOf<Listed>().toExtend<Everything>();
    expectTypeOf<Listed['text']>().toEqualTypeOf<string>();
    // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- a name for the item, as users give it
    interface Named extends Everything {}
    expectTypeOf(everything.get({} as never).item()).toExtend<Promise<Named | undefined>>();
  });
});

describe('Input', () => {
  type In = Input<typeof Everything>;
  test('leaves out defaulted members, and the version of a new item', () => {
    expectTypeOf<In['total']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<In['revision']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<In['text']>().toEqualTypeOf<string>();
    expectTypeOf<In['shipTo']>().toExtend<{ city: string; zip?: string | undefined; since?: number | undefined }>();
    expectTypeOf<{ city: string }>().toExtend<In['shipTo']>();
  });

  test('takes an item that was read', () => {
    expectTypeOf<Everything>().toExtend<In>();
  });
});

describe('keys', () => {
  test('are inferred from the templates', () => {
    expectTypeOf(Everything.key).parameter(0).toEqualTypeOf<{ text: string; id: string; at: Date; count: number }>();
    expectTypeOf(Everything.pk.parse('')).toEqualTypeOf<{ text: string; id: string }>();
    expectTypeOf(Everything.sk.parse('')).toEqualTypeOf<{ text: string; at: Date; count: number }>();
    expectTypeOf(everything.get).parameter(0).toEqualTypeOf<{ text: string; id: string; at: Date; count: number }>();
    expectTypeOf(everything.query)
      .parameter(0)
      .toExtend<{ text: string; id: string; at?: Date | undefined; count?: number | undefined }>();
    expectTypeOf(everything.index('byStatus').query).parameter(0).toExtend<{ status: 'OPEN' | 'PAID'; day?: string }>();
  });

  test('of an entity without inputs are empty', () => {
    const Settings = entity('SETTINGS', { pk: 'SETTINGS', sk: 'V1', attributes: { theme: string() } });
    void shop.of(Settings).get({});
    expectTypeOf(Settings.key({})).toEqualTypeOf<{ readonly pk: string; readonly sk: string }>();
  });
});

describe('handles', () => {
  const { attrs } = Everything;
  test('take the values of their attribute', () => {
    expectTypeOf(attrs.count.gt).parameter(0).toEqualTypeOf<number>();
    expectTypeOf(attrs.status.eq).parameter(0).toEqualTypeOf<'OPEN' | 'PAID'>();
    expectTypeOf(attrs.tags.contains).parameter(0).toEqualTypeOf<string>();
    expectTypeOf(attrs.scores.contains).parameter(0).toEqualTypeOf<number>();
    expectTypeOf(attrs.shipTo.city.eq).parameter(0).toEqualTypeOf<string>();
    expectTypeOf(attrs.lines.at(0).eq).parameter(0).toEqualTypeOf<string>();
    expectTypeOf(attrs.labels.at('x').eq).parameter(0).toEqualTypeOf<number>();
    expectTypeOf(attrs.money.eq).parameter(0).toEqualTypeOf<Money>();
    expectTypeOf(attrs.kelvin.eq).parameter(0).toEqualTypeOf<string>();
    expectTypeOf(attrs.lines.size().gt).parameter(0).toEqualTypeOf<number>();
  });

  test('say whether reading them may give nothing', () => {
    const read = <R>(handle: { readonly '~x': R }): R => handle['~x'];
    expectTypeOf(read(attrs.text)).toEqualTypeOf<string>();
    expectTypeOf(read(attrs.count)).toEqualTypeOf<number>();
    expectTypeOf(read(attrs.total)).toEqualTypeOf<number>();
    expectTypeOf(read(attrs.note)).toEqualTypeOf<string | undefined>();
    expectTypeOf(read(attrs.kelvin)).toEqualTypeOf<string | undefined>();
    expectTypeOf(read(attrs.shipTo.city)).toEqualTypeOf<string>();
    expectTypeOf(read(attrs.shipTo.zip)).toEqualTypeOf<string | undefined>();
    expectTypeOf(read(attrs.shipTo.at('city'))).toEqualTypeOf<string>();
    expectTypeOf(read(attrs.lines.at(0))).toEqualTypeOf<string | undefined>();
    expectTypeOf(read(attrs.labels.at('x'))).toEqualTypeOf<number | undefined>();
    const Nested = entity('NESTED', {
      pk: 'N',
      sk: 'S',
      attributes: { outer: map({ inner: map({ value: integer(), deep: list(map({ a: string() })) }) }).optional() },
    });
    expectTypeOf(read(Nested.attrs.outer.inner.deep.at(0).a)).toEqualTypeOf<string | undefined>();
    expectTypeOf(read(Nested.attrs.outer.inner)).extract<undefined>().toEqualTypeOf<undefined>();
    expectTypeOf(read(Nested.attrs.outer.inner.at('value'))).toEqualTypeOf<number | undefined>();
  });

  test('belong to their entity', () => {
    expectTypeOf(attrs.count.gt(1)['~n']).toEqualTypeOf<'EVERYTHING'>();
  });
});

describe('builders', () => {
  test('are typed by what they were made of', () => {
    expectTypeOf(integer().via({ encode: (date: Date) => Number(date), decode: (n) => new Date(n) })).toExtend<
      Attribute<Date>
    >();
    // @ts-expect-error -- a converter gives what the attribute stores
    string().via({ encode: (n: number) => n, decode: Number });
    // @ts-expect-error -- a default is a value of the attribute
    integer().default('x');
    // @ts-expect-error -- what is optional has no default
    void string().optional().default;
    // @ts-expect-error -- and what has a default is not optional
    void string().default('x').optional;
    // @ts-expect-error -- a decimal class is made of text
    decimal(Date.prototype);
  });
});
