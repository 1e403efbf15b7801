import type { SQSRecord } from 'aws-lambda';
import { describe, expectTypeOf, it } from 'vitest';
import { boolean, integer, string, table, entity, version } from '../../lib/commands/index.js';
import {
  bodyPath,
  eventBridgeId,
  fromEventBridge,
  fromInvocation,
  fromSqs,
  headerId,
  messageHandler,
  sagaEntity,
  type KafkaRecord,
  type Received,
  type Session,
  type SqsRecord,
} from '../../lib/messaging/index.js';

declare const session: Session;
declare const sqsRecord: SQSRecord;
const shop = table({ name: 'shop', client: { send: () => undefined, config: {} } as never });
const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer(), revision: version() },
});

describe('a message', () => {
  it('has no identity by accident: plain text is none, and a record has no id of its own', () => {
    // @ts-expect-error -- text is no MessageId
    fromSqs({ id: () => 'text' });
    // What identity is read from, and a source's record, have no id of the queue's and no offset.
    expectTypeOf<Received<unknown>>().not.toHaveProperty('messageId');
    expectTypeOf<SqsRecord>().not.toHaveProperty('messageId');
    expectTypeOf<KafkaRecord>().not.toHaveProperty('offset');
    // @ts-expect-error -- it is required
    fromSqs({});
    // @ts-expect-error -- as is a source
    messageHandler({ table: shop, consumer: 'a', handle: () => undefined });
  });

  it('comes from the records of @types/aws-lambda', () => {
    const handler = messageHandler({
      table: shop,
      consumer: 'a',
      from: fromSqs<{ id: string }>({ id: bodyPath('id') }),
      handle: ({ body }) => void expectTypeOf(body).toEqualTypeOf<{ id: string }>(),
    });
    void handler(sqsRecord);
  });

  it('has the body that its source decodes', () => {
    messageHandler({
      table: shop,
      consumer: 'a',
      from: fromSqs({ id: headerId('id'), decode: (text) => text.length }),
      handle: ({ body }) => void expectTypeOf(body).toEqualTypeOf<number>(),
    });
    messageHandler({
      table: shop,
      consumer: 'a',
      from: fromEventBridge<{ orderId: string }>({ id: eventBridgeId }),
      handle: ({ body }) => void expectTypeOf(body.detail.orderId).toEqualTypeOf<string>(),
    });
  });
});

describe('a handler', () => {
  it('can not return a command, which would be sent outside of the transaction', () => {
    const accounts = shop.of(Account);
    messageHandler({
      table: shop,
      consumer: 'a',
      from: fromInvocation({ id: bodyPath('id') }),
      // @ts-expect-error -- say session.add(…)
      handle: () => accounts.put({ id: 'a', balance: 1 }),
    });
    messageHandler({
      table: shop,
      consumer: 'a',
      from: fromInvocation({ id: bodyPath('id') }),
      // @ts-expect-error -- say session.add(…)
      handle: async () => accounts.put({ id: 'a', balance: 1 }),
    });
  });
});

describe('a session', () => {
  it('takes commands, condition checks and raw items, and no read or undecided write', () => {
    const accounts = shop.of(Account);
    session.add(accounts.put({ id: 'a', balance: 1 }));
    session.add({ Delete: { TableName: 'x', Key: {} } });
    // @ts-expect-error -- says nothing of the version
    session.add(accounts.update({ id: 'a' }).set({ balance: 1 }));
    // @ts-expect-error -- is a read
    session.add(accounts.get({ id: 'a' }));
  });

  it('publishes of an aggregate with its sequence only', () => {
    session.publish({ type: 'a', detail: {} }, { aggregate: 'a', sequence: 1 });
    // @ts-expect-error -- no sequence
    session.publish({ type: 'a', detail: {} }, { aggregate: 'a' });
    // @ts-expect-error -- no receiver
    session.send({ type: 'a', detail: {} });
  });
});

describe('a saga', () => {
  const Order = sagaEntity('ORDER', { paid: boolean().default(false), note: string().optional() });

  it('has the state that was declared, and not the record around it', async () => {
    const saga = await session.saga(Order, 'o-1');
    expectTypeOf(saga.state.paid).toEqualTypeOf<boolean>();
    expectTypeOf(saga.state.note).toEqualTypeOf<string | undefined>();
    // @ts-expect-error -- the revision is the session's
    saga.state.revision = 1;
    const found = await session.saga(Order, 'o-1', { start: false });
    // @ts-expect-error -- it may be absent
    void found.state;
  });

  it('takes no required attribute, no name of its own, and no other entity', async () => {
    // @ts-expect-error -- any message may be the first
    sagaEntity('A', { total: integer() });
    // @ts-expect-error -- every saga has one
    sagaEntity('A', { revision: integer().optional() });
    // @ts-expect-error -- not made by sagaEntity()
    await session.saga(Account, 'a');
  });
});
