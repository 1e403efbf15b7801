// The same effects with the peers, where they have something for them. The others leave them to their user.
import { randomUUID } from 'node:crypto';
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { PutItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Table as OneTable } from 'dynamodb-onetable';
import {
  $add,
  Entity as ToolboxEntity,
  GetItemCommand,
  PutItemCommand as ToolboxPut,
  Table,
  UpdateItemCommand,
  item,
  number,
  string,
} from 'dynamodb-toolbox';
import { Entity, Service } from 'electrodb';
import { schema as common } from '../lib/onetable.mjs';
import { contextOf } from '../load/context.mjs';
import { done, failure } from './counting.mjs';

const is = (name) => (result) => result === name;
const table = 'bench';

const electro = (client) => {
  const entity = (name, attributes, id) =>
    new Entity(
      {
        model: { entity: name, version: '1', service: 'shop' },
        attributes,
        indexes: { one: { pk: { field: 'pk', composite: [id] }, sk: { field: 'sk', composite: [] } } },
      },
      { table, client },
    );
  const text = { type: 'string', required: true };
  const amount = { type: 'number', required: true };
  return {
    account: entity('account', { id: text, balance: amount, revision: amount }, 'id'),
    user: entity('user', { id: text, email: text, handle: text }, 'id'),
    mail: entity('mail', { address: text, owner: text }, 'address'),
    handle: entity('handle', { handle: text, owner: text }, 'handle'),
    views: entity('views', { page: text, count: { type: 'number' } }, 'page'),
  };
};

const toolbox = (client) => {
  const shop = new Table({
    name: table,
    partitionKey: { name: 'pk', type: 'string' },
    sortKey: { name: 'sk', type: 'string' },
    documentClient: DynamoDBDocumentClient.from(client),
  });
  const entity = (name, schema) =>
    new ToolboxEntity({ name, table: shop, schema, computeKey: ({ id }) => ({ pk: `${name}#${id}`, sk: name }) });
  return {
    account: entity('TB_ACCOUNT', item({ id: string().key(), balance: number(), revision: number() })),
    views: entity('TB_VIEWS', item({ id: string().key(), count: number().optional() })),
  };
};

const one = (client) => {
  const id = { type: String, required: true };
  const schema = {
    ...common,
    models: {
      Account: {
        pk: { type: String, value: 'OT_ACCOUNT#${id}' },
        sk: { type: String, value: 'ACCOUNT' },
        id,
        balance: { type: Number, required: true },
        revision: { type: Number, required: true },
      },
      User: {
        pk: { type: String, value: 'OT_USER#${id}' },
        sk: { type: String, value: 'USER' },
        id,
        email: { type: String, required: true, unique: true },
        handle: { type: String, required: true, unique: true },
      },
      Views: {
        pk: { type: String, value: 'OT_VIEWS#${page}' },
        sk: { type: String, value: 'VIEWS' },
        page: id,
        count: { type: Number },
      },
    },
  };
  const shop = new OneTable({ name: table, partial: true, client, schema, logger: false });
  return Object.fromEntries(['Account', 'User', 'Views'].map((name) => [name.toLowerCase(), shop.getModel(name)]));
};

/** A read, and a write on condition of the version, run again by hand where it lost; a lost response may apply it twice. */
const locking = async (client, count) => {
  const [e, t, o] = [electro(client), toolbox(client), one(client)];
  const first = { id: 'a', balance: 0, revision: 1 };
  await e.account.put(first).go();
  await t.account.build(ToolboxPut).item(first).send();
  await o.account.create(first);
  const sides = {
    electrodb: {
      read: async () => (await e.account.get({ id: 'a' }).go({ consistent: true })).data,
      write: ({ balance, revision }) =>
        e.account
          .patch({ id: 'a' })
          .set({ balance: balance + 1, revision: revision + 1 })
          .where((attribute, { eq }) => eq(attribute.revision, revision))
          .go(),
    },
    'dynamodb-toolbox': {
      read: async () =>
        (await t.account.build(GetItemCommand).key({ id: 'a' }).options({ consistent: true }).send()).Item,
      write: ({ balance, revision }) =>
        t.account
          .build(UpdateItemCommand)
          .item({ id: 'a', balance: balance + 1, revision: revision + 1 })
          .options({ condition: { attr: 'revision', eq: revision } })
          .send(),
    },
    onetable: {
      read: () => o.account.get({ id: 'a' }, { consistent: true }),
      write: ({ balance, revision }) =>
        o.account.update(
          { id: 'a', balance: balance + 1, revision: revision + 1 },
          { where: `\${revision} = {${revision}}`, log: false },
        ),
    },
  };
  const rows = [];
  for (const [name, { read, write }] of Object.entries(sides)) {
    const stale = await read();
    rows.push(await count(`${name}: success`, async () => write(await read()), done));
    const again = async () => {
      const failed = await failure(() => write(stale))();
      await write(await read());
      return failed;
    };
    rows.push(await count(`${name}: one run lost, then success`, again, (failed) => failed !== undefined));
  }
  return rows;
};

const claims = async (client, count) => {
  const { user } = one(client);
  const { user: users, mail, handle } = electro(client);
  const shop = new Service({ users, mail, handle }, { table, client });
  const alice = { id: 'alice', email: 'alice@example.ch', handle: 'al' };
  const quiet = { log: false };
  const register = (record) => async () => {
    const { canceled } = await shop.transaction
      .write((of) => [
        of.users.create(record).commit(),
        of.mail.create({ address: record.email, owner: record.id }).commit(),
        of.handle.create({ handle: record.handle, owner: record.id }).commit(),
      ])
      .go();
    return canceled;
  };
  await user.create({ id: 'bob', email: 'bob@example.ch', handle: 'bob' });
  const failed = (code) => code !== undefined;
  return [
    await count('onetable, `unique`: create a record with 2', () => user.create(alice, quiet), done),
    await count(
      'onetable: create, repeated',
      failure(() => user.create(alice, quiet)),
      failed,
    ),
    await count(
      'onetable: create, a value is taken',
      failure(() => user.create({ ...alice, id: 'carol' }, quiet)),
      failed,
    ),
    await count(
      'onetable: change a value',
      () => user.update({ id: 'alice', email: 'alice@example.org' }, { ...quiet, return: 'none' }),
      done,
    ),
    await count(
      'onetable: change, the new value is taken',
      failure(() => user.update({ id: 'alice', email: 'bob@example.ch' }, { ...quiet, return: 'none' })),
      failed,
    ),
    await count('onetable: remove', () => user.remove({ id: 'alice' }, quiet), done),
    await count('electrodb, a transaction by hand: create a record with 2', register(alice), is(false)),
    await count('electrodb: create, a value is taken', register({ ...alice, id: 'carol' }), is(true)),
  ];
};

const store = (client) =>
  new DynamoDBPersistenceLayer({ tableName: table, keyAttr: 'pk', sortKeyAttr: 'sk', awsSdkV3Client: client });
const context = contextOf(10_000);
const powertools = (client, run) =>
  makeIdempotent(run, {
    persistenceStore: store(client),
    config: new IdempotencyConfig({
      eventKeyJmesPath: 'key',
      payloadValidationJmesPath: 'body',
      lambdaContext: context,
    }),
    keyPrefix: randomUUID(),
  });

const idempotency = async (client, count) => {
  const put = ({ key }) =>
    client.send(
      new PutItemCommand({ TableName: table, Item: { pk: { S: `PT#${key}` }, sk: { S: 'PT' }, n: { N: '1' } } }),
    );
  const handler = powertools(client, async (event) => {
    await put(event);
    return { ok: true };
  });
  const call = (key, body) => () => handler({ key, body }, context);
  return [
    await count('Powertools: first call, a put of its own', call('a', '1'), ({ ok }) => ok),
    await count('Powertools: repeat', call('a', '1'), ({ ok }) => ok),
    await count(
      'Powertools: the key again, another request',
      failure(call('a', '2')),
      is('IdempotencyValidationError'),
    ),
  ];
};

const lease = async (client, count) => {
  let enter, leave;
  const inside = new Promise((resolve) => (enter = resolve));
  const held = new Promise((resolve) => (leave = resolve));
  const handler = powertools(client, async ({ wait }) => {
    if (wait) {
      enter();
      await held;
    }
    return { ok: true };
  });
  const call = (key, wait) => () => handler({ key, body: '1', wait }, context);
  const rows = [
    await count('Powertools: first call, an effect outside', call('a'), ({ ok }) => ok),
    await count('Powertools: repeat', call('a'), ({ ok }) => ok),
  ];
  const running = call('b', true)();
  await inside;
  rows.push(
    await count('Powertools: while another call runs', failure(call('b')), is('IdempotencyAlreadyInProgressError')),
  );
  leave();
  await running;
  return rows;
};

const counters = async (client, count) => {
  const [e, t, o] = [electro(client), toolbox(client), one(client)];
  return [
    await count('electrodb, `add`', () => e.views.upsert({ page: '/' }).add({ count: 1 }).go(), done),
    await count(
      'dynamodb-toolbox, `$add`',
      () =>
        t.views
          .build(UpdateItemCommand)
          .item({ id: '/', count: $add(1) })
          .send(),
      done,
    ),
    await count('onetable, `add`', () => o.views.update({ page: '/' }, { add: { count: 1 }, exists: null }), done),
  ];
};

/** An event by hand, in a transaction. */
const publishing = async (client, count) => {
  const put = (pk) => ({ Put: { TableName: table, Item: { pk: { S: pk }, sk: { S: 'X' }, n: { N: '1' } } } });
  return [
    await count(
      'the bare client: a put and an event, in a transaction',
      () => client.send(new TransactWriteItemsCommand({ TransactItems: [put('HAND#1'), put('HAND#OUTBOX')] })),
      done,
    ),
  ];
};

/** A message whose handler writes an event; the record of the message apart from it. */
const sessions = async (client, count) => {
  const handler = powertools(client, async ({ key }) => {
    const Item = { pk: { S: `PT_EVENT#${key}` }, sk: { S: 'E' }, n: { N: '1' } };
    await client.send(new PutItemCommand({ TableName: table, Item }));
    return {};
  });
  return [
    await count('Powertools: first delivery, an event', () => handler({ key: 'm', body: '1' }, context), done),
    await count('Powertools: repeat of it', () => handler({ key: 'm', body: '1' }, context), done),
  ];
};

/** By the title of the recipe. */
export const peers = {
  'Optimistic locking, `readModifyWrite`': locking,
  'Uniqueness claims, `uniqueClaims`': claims,
  'Idempotency record, `idempotentTransaction`': idempotency,
  'Idempotency lease, `idempotentLease`': lease,
  Counters: counters,
  Outbox: publishing,
  'Message session, `messageHandler`': sessions,
};
