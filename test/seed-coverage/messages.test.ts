// The samples and sentences of the document "DynamoDB persistence transactions" that no test of messages shows; see
// docs/seed-coverage-messaging.md.
import { CreateTableCommand, GetItemCommand, PutItemCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  entity,
  integer,
  string,
  table,
  transactWrite,
  type AttributeMap,
  type Table,
} from '../../lib/commands/index.js';
import {
  TestSession,
  bodyPath,
  fromInvocation,
  mapper,
  messageHandler,
  sagaEntity,
  toItem,
  toObject,
  type Message,
  type Session,
} from '../../lib/messaging/index.js';
import { testDynamoDB, uniqueTableName, type TestDynamoDB } from '../support/dynamodb.js';

interface Customer {
  CustomerId: string;
  CustomerPreferred: boolean;
}
interface MyMessage {
  readonly id: string;
  readonly customer: string;
}
const MySaga = sagaEntity('MY_SAGA', { messages: integer().default(0) });
const Note = entity('NOTE', { pk: 'NOTE#{id}', sk: 'NOTE', attributes: { id: string() } });

let db: TestDynamoDB;
let someTable: Table;
let names = 0;
const fresh = (): string => `c${++names}`;

beforeAll(async () => {
  db = await testDynamoDB();
  const { client } = db;
  const TableName = uniqueTableName('someTable');
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['PK', 'SK'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
      KeySchema: [
        { AttributeName: 'PK', KeyType: 'HASH' },
        { AttributeName: 'SK', KeyType: 'RANGE' },
      ],
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 1 }, { TableName });
  someTable = table({ name: TableName, client, pk: 'PK', sk: 'SK' });
});
afterAll(() => db.close());

const keyOf = (customer: string) => ({ PK: { S: `CUSTOMERS#${customer}` }, SK: { S: customer } });
const store = async (customer: string): Promise<void> => {
  const Item = { ...keyOf(customer), ...toItem({ CustomerId: customer, CustomerPreferred: false }) };
  await db.client.send(new PutItemCommand({ TableName: someTable.name, Item }));
};
const load = async (customer: string): Promise<AttributeMap> => {
  const request = { TableName: someTable.name, Key: keyOf(customer), ConsistentRead: true };
  return (await db.client.send(new GetItemCommand(request))).Item as AttributeMap;
};
const isPreferred = async (customer: string) => (await load(customer))['CustomerPreferred']?.BOOL;
const handlerOf = (handle: (message: Message<MyMessage>, session: Session) => Promise<void>) =>
  messageHandler<MyMessage, MyMessage>({
    table: someTable,
    consumer: 'customers',
    from: fromInvocation({ id: bodyPath('id') }),
    handle,
  });

const prefer = async ({ body }: Message<MyMessage>, session: Session): Promise<void> => {
  const item = await load(body.customer);
  const customer = toObject<Customer & { PK: string }>(item);
  customer.CustomerPreferred = true;
  const { CustomerId, CustomerPreferred } = customer;
  const mapped = toItem({ CustomerId, CustomerPreferred });
  mapped['PK'] = item['PK'] as AttributeMap[string];
  mapped['SK'] = item['SK'] as AttributeMap[string];
  session.add({ Put: { TableName: someTable.name, Item: mapped } });
};

test('the sample: a customer is read, mapped, changed and put, beside a saga in one table', async () => {
  const customer = fresh();
  await store(customer);
  const handler = handlerOf(async (message, session) => {
    await prefer(message, session);
    (await session.saga(MySaga, customer)).state.messages++;
  });
  expect(await handler({ id: customer, customer })).toMatchObject({ outcome: 'handled' });
  expect(await load(customer)).toEqual({
    ...keyOf(customer),
    CustomerId: { S: customer },
    CustomerPreferred: { BOOL: true },
  });
  expect(await someTable.of(MySaga).get({ correlation: customer }).item()).toMatchObject({ messages: 1 });
});

test('the trap: a handler that forgets the keys writes nothing', async () => {
  const customer = fresh();
  await store(customer);
  const handler = handlerOf(async (_message, session) => {
    (await session.saga(MySaga, customer)).state.messages++;
    const Item = toItem({ CustomerId: customer, CustomerPreferred: true });
    session.add({ Put: { TableName: someTable.name, Item } });
  });
  await expect(handler({ id: customer, customer })).rejects.toThrow('lacks the key attribute PK');
  expect(await isPreferred(customer)).toBe(false);
  expect(await someTable.of(MySaga).get({ correlation: customer }).item()).toBeUndefined();
});

test('the sample with mapped keys: the customer is put without further modification', async () => {
  const customers = mapper<Customer & { partitionKey: string; sortKey: string }>({
    names: { partitionKey: 'PK', sortKey: 'SK' },
  });
  const customer = fresh();
  await store(customer);
  const handler = handlerOf(async ({ body }, session) => {
    const found = customers.toObject(await load(body.customer));
    expect(found.partitionKey).toBe(`CUSTOMERS#${customer}`);
    found.CustomerPreferred = true;
    session.add({ Put: { TableName: someTable.name, Item: customers.toItem(found) } });
  });
  await handler({ id: customer, customer });
  expect(await isPreferred(customer)).toBe(true);
});

test('a customer that lib-dynamodb loaded is stored only when the transaction commits', async () => {
  const customer = fresh();
  await store(customer);
  const context = DynamoDBDocumentClient.from(db.client);
  let fails = true;
  const handler = handlerOf(async (_message, session) => {
    const Key = { PK: `CUSTOMERS#${customer}`, SK: customer };
    const { Item } = await context.send(new GetCommand({ TableName: someTable.name, Key, ConsistentRead: true }));
    const loaded = Item as Customer;
    loaded.CustomerPreferred = true;
    session.add({ Put: { TableName: someTable.name, Item: toItem(loaded) } });
    expect(await isPreferred(customer)).toBe(false);
    if (fails) throw new Error('refused');
  });
  await expect(handler({ id: customer, customer })).rejects.toThrow('refused');
  expect(await isPreferred(customer)).toBe(false);
  fails = false;
  await handler({ id: customer, customer });
  expect(await isPreferred(customer)).toBe(true);
});

test('a transaction of the handler’s own commits by itself', async () => {
  const customer = fresh();
  const handler = handlerOf(async (_message, session) => {
    session.add(someTable.of(Note).put({ id: `${customer}session` }));
    await transactWrite(someTable, { note: someTable.of(Note).put({ id: `${customer}own` }) }).send();
    throw new Error('refused');
  });
  await expect(handler({ id: customer, customer })).rejects.toThrow('refused');
  expect(
    await someTable
      .of(Note)
      .get({ id: `${customer}own` })
      .item(),
  ).toBeDefined();
  expect(
    await someTable
      .of(Note)
      .get({ id: `${customer}session` })
      .item(),
  ).toBeUndefined();
});

test('the sample of a unit test', async () => {
  const handleMyMessage = ({ body }: Message<MyMessage>, session: Session): void => {
    const Item = { ...keyOf(body.customer), ...toItem({ CustomerPreferred: true }) };
    session.add({ Put: { TableName: 'someTable', Item } });
  };
  const session = new TestSession({ table: table({ name: 'someTable', client: db.client, pk: 'PK', sk: 'SK' }) });
  await session.handle(handleMyMessage, { id: 'm-1', customer: 'alice' });
  expect(session.operations).toHaveLength(1);
  expect(session.operations[0]?.item.Put?.Item).toMatchObject({ CustomerPreferred: { BOOL: true } });
});
