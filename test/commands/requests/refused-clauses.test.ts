import { describe, expect, it } from 'vitest';
import {
  InvalidInputError,
  InvalidStoredItemError,
  entity,
  map,
  record,
  scan,
  string,
} from '../../../lib/commands/index.js';
import { decimal } from '../../../lib/commands/attributes/decimal.js';
import type { AttributeBuilder } from '../../../lib/commands/attributes/attribute.js';
import { bindingOf } from '../../../lib/commands/table/table.js';
import { offlineTable } from '../support/offline.js';
import { Order, shopOptions } from '../support/shop.js';

const orders = offlineTable(shopOptions).of(Order);
const key = { customer: 'alice', number: 1 };
const { total, note, status, shipTo, customer, number, labels } = Order.attrs;
const update = () => orders.update(key);

describe('expression text', () => {
  it.each([
    ['closes parentheses around it', ['', ' = ', ') OR (', ' = ', '']],
    ['opens more than it closes', ['((', ' = ', ')']],
  ])('is refused where it %s', (_, strings) => {
    const template = Object.assign([...strings], { raw: strings }) as unknown as TemplateStringsArray;
    const inserts = strings.slice(1).map((_part, i) => (i % 2 === 0 ? total : total.value(1)));
    expect(() => Order.text(template, ...inserts)).toThrow(/parentheses/);
  });

  it('is refused where it names the placeholders of the library', () => {
    expect(() => Order.text`#0 = ${total.value(1)}`).toThrow(InvalidInputError);
    expect(() => Order.text`${total} = :0`).toThrow(InvalidInputError);
  });

  it('is refused as a value where it would begin another action', () => {
    expect(() => update().set(total, Order.text`${total.value(1)} REMOVE ${note}`)).toThrow(/other actions/);
    expect(() => update().set(total, Order.text`${total.value(1)}, ${note} = ${note.value('x')}`)).toThrow(/comma/);
  });

  it('takes functions with several operands', () => {
    const text = Order.text`if_not_exists(${total}, ${total.value(0)}) + ${total.value(1)}`;
    expect(update().set(total, text).toRequest().UpdateExpression).toContain('if_not_exists(#1, :1) + :2');
  });
});

describe('an attribute that is required', () => {
  it('can not be removed, in any way of saying it', () => {
    expect(() => update().remove(total)).toThrow(/required/);
    expect(() => update().set(total, undefined)).toThrow(/required/);
    expect(() => update().set({ status: undefined })).toThrow(/required/);
    expect(() => update().remove(shipTo.city)).toThrow(/required/);
  });

  it('is told from optional and defaulted ones, members of a record and elements of a list', () => {
    const { lines, tags } = Order.attrs;
    expect(() => update().remove(note, tags, lines, shipTo.zip, labels.at('a')).toRequest()).not.toThrow();
    expect(() => update().remove(lines.at(0)).toRequest()).not.toThrow();
  });
});

describe('a condition on an input of the key', () => {
  it('asks for the item itself, which has its key however it was created', () => {
    const request = update().set({ total: 1 }).if(customer.exists()).toRequest();
    expect(request.ConditionExpression).toBe('attribute_exists(#2)');
    expect(request.ExpressionAttributeNames?.['#2']).toBe('pk');
  });

  it('is refused where it compares, since an item that an update created does not store it', () => {
    expect(() => update().if(customer.eq('alice'))).toThrow(/input of the key/);
    expect(() => update().if(total.gt(1).or(number.lt(5)))).toThrow(/input of the key/);
    expect(() => update().if(Order.text`${number} = ${number.value(1)}`)).toThrow(/input of the key/);
  });

  it('is refused in a filter where it asks for the item', () => {
    expect(() => orders.query({ customer: 'alice' }).filter(number.exists()).toRequest()).toThrow(/exists/);
    expect(() => scan(orders).filter(number.notExists()).toRequest()).toThrow(/exists/);
  });
});

describe('a comparison', () => {
  it('is refused with its bounds the wrong way round, without a value in the message', () => {
    expect(() => total.between(2, 1)).toThrow('total: between() takes the lower value first');
    expect(() => note.between('secret-z', 'a')).toThrow('note: between() takes the lower value first');
    expect(() => note.between('\u{ffff}', '\u{1f600}')).not.toThrow();
  });

  it('is refused with a type that there is not', () => {
    expect(() => note.isType('secret' as never)).toThrow('note: isType() takes one of');
  });
});

it('a decimal is stored without a plus sign, which DynamoDB refuses', () => {
  const [encode] = (decimal() as unknown as AttributeBuilder).make_('rate');
  expect(encode('+5.5')).toEqual({ N: '5.5' });
});

it('a record refuses names that UTF-8 would make one', () => {
  const Tagged = entity('TAGGED', {
    pk: 'TAGGED#{id}',
    sk: 'TAGGED',
    attributes: { id: string(), by: record(string()), at: map({ x: string() }).optional() },
  });
  const tagged = offlineTable(shopOptions).of(Tagged);
  expect(() => tagged.put({ id: 'a', by: { '\ud800': 'x' } })).toThrow(/well-formed/);
  expect(() => Tagged.attrs.by.at('\ud801')).toThrow(InvalidInputError);
});

describe('an item whose inputs say another key', () => {
  const { entity_: compiled } = bindingOf(orders);
  const stored = () =>
    orders.put({ ...key, status: 'OPEN', placedAt: new Date(0), total: 1, note: 'x' }).toRequest().Item ?? {};

  it('is refused when it is read: put back, it would overwrite the other item', () => {
    expect(compiled.decode_(stored())).toMatchObject(key);
    expect(() => compiled.decode_({ ...stored(), customer: { S: 'bob' } })).toThrow(InvalidStoredItemError);
    expect(() => compiled.decode_({ ...stored(), number: { N: '2' } })).toThrow(InvalidStoredItemError);
    expect(() => compiled.decode_({ ...stored(), sk: { S: 'ORDER#0000000001#x' } })).toThrow(InvalidStoredItemError);
  });

  it('is told from one that stores no inputs', () => {
    const { customer: _, number: __, ...created } = stored();
    expect(compiled.decode_(created)).toMatchObject(key);
    expect(status.eq('OPEN')).toBeDefined();
  });

  describe('where it stores no inputs', () => {
    const Profile = entity('PROFILE', {
      pk: 'USER#{id}',
      sk: 'AT#{region}#PROFILE#{id}#V1',
      attributes: { id: string(), region: string(), n: string().optional() },
    });
    const { entity_: profile } = bindingOf(offlineTable(shopOptions).of(Profile));
    const at = (pk: string, sk: string, members = {}) => ({
      pk: { S: pk },
      sk: { S: sk },
      _type: { S: 'PROFILE' },
      ...members,
    });
    const own = 'AT#eu#PROFILE#1#V1';

    it('is read from its keys', () => {
      expect(profile.decode_(at('USER#1', own))).toEqual({ id: '1', region: 'eu' });
      expect(profile.decode_(at('USER#1', own, { id: { S: '1' } }))).toEqual({ id: '1', region: 'eu' });
      expect(profile.decode_(at('USER#1', own, { region: { S: 'eu' } }))).toEqual({ id: '1', region: 'eu' });
    });

    it.each([
      ['another literal before an input', 'USER#1', 'AT#eu#SETTINGS#1#V1', {}],
      ['another literal before the first input', 'USER#1', 'IN#eu#PROFILE#1#V1', { region: { S: 'eu' } }],
      ['another literal after the last input', 'USER#1', 'AT#eu#PROFILE#1#V2', { region: { S: 'eu' } }],
      ['another literal before it in the partition key', 'TEAM#1', own, {}],
      ['two values of one input', 'USER#1', 'AT#eu#PROFILE#2#V1', {}],
      ['two values of one input, beside one that is stored', 'USER#1', 'AT#eu#PROFILE#2#V1', { region: { S: 'eu' } }],
      ['a stored input that is not its own', 'USER#1', own, { region: { S: 'us' } }],
      ['a stored input that no key may hold', 'USER#1', own, { region: { S: 'e#u' } }],
      ['no key of the template', 'USER#1', 'PROFILE', { region: { S: 'eu' } }],
    ])('is refused with %s', (_, pk, sk, members) => {
      expect(() => profile.decode_(at(pk, sk, members))).toThrow(InvalidStoredItemError);
    });
  });
});
