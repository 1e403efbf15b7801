import { entity, integer, string, version, type Item, type Table } from '../../../lib/commands/index.js';
import {
  bodyPath,
  fromInvocation,
  messageHandler,
  sagaEntity,
  type Message,
  type MessageHandler,
  type MessageHandlerOptions,
  type Session,
} from '../../../lib/messaging/index.js';

export const Account = entity('ACCOUNT', {
  pk: 'ACCOUNT#{id}',
  sk: 'BALANCE',
  attributes: { id: string(), balance: integer(), revision: version() },
});
export type Account = Item<typeof Account>;

export const Process = sagaEntity('PROCESS', { steps: integer().default(0), last: string().optional() });

/** A message that moves an account and a saga, and publishes of two aggregates and none. */
export interface Deposit {
  readonly id: string;
  readonly account: string;
  readonly amount: number;
}

/** Reads an account and a saga, changes both, publishes three events and sends a command. */
export const deposit =
  (shop: Table) =>
  async ({ body }: Message<Deposit>, session: Session): Promise<void> => {
    const { account: id, amount } = body;
    const account = (await shop.of(Account).get({ id }).consistent().item({ signal: session.signal })) ?? {
      id,
      balance: 0,
      revision: 0,
    };
    const process = await session.saga(Process, id);
    process.state.steps++;
    process.state.last = body.id;
    session.add(shop.of(Account).put({ ...account, balance: account.balance + amount }), 'account');
    const of = { aggregate: `${id}:account`, sequence: account.revision + 1 };
    session.publish({ type: 'account.moved', detail: { amount } }, of);
    session.publish({ type: 'process.moved', detail: {} }, { aggregate: `${id}:process`, sequence: process.revision });
    session.publish({ type: 'account.told', detail: {} }, of);
    session.send({ to: 'mail', type: 'notify', detail: { id } });
  };

export const depositHandler = (
  shop: Table,
  options: Partial<MessageHandlerOptions<Deposit, Deposit>> = {},
): MessageHandler<Deposit> =>
  messageHandler<Deposit, Deposit>({
    table: shop,
    consumer: 'deposits',
    from: fromInvocation({ id: bodyPath('id') }),
    handle: deposit(shop),
    ...options,
  });
