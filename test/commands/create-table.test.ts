import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  UpdateTimeToLiveCommand,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  InvalidInputError,
  createTable,
  entity,
  string,
  table,
  timeToLive,
  type Table,
  type TableOptions,
} from '../../lib/commands/index.js';
import { testDynamoDB, uniqueTableName, type TestDynamoDB } from '../support/dynamodb.js';
import { offlineClient, offlineTable } from './support/offline.js';

describe('the request of a createTable', () => {
  it('has the keys of the table, and bills on demand', () => {
    expect(createTable(offlineTable()).toRequest()).toEqual({
      TableName: 'shop',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
    });
  });

  it('has the indexes, local ones on the partition key of the table, and the stream', () => {
    const shop = offlineTable({
      pk: 'id',
      sk: false,
      indexes: {
        byName: {},
        byOwner: { pk: 'owner', sk: 'pk2' },
        byDay: { pk: 'id', sk: 'day' },
        byKind: { sk: false },
      },
    });
    const command = createTable(shop).stream().project('byOwner', 'keys').project('byKind', ['total', '_type']);
    const hash = (AttributeName: string) => ({ AttributeName, KeyType: 'HASH' });
    const range = (AttributeName: string) => ({ AttributeName, KeyType: 'RANGE' });
    expect(JSON.parse(command.toRequestJson())).toEqual({
      TableName: 'shop',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [hash('id')],
      AttributeDefinitions: ['id', 'byNamepk', 'byNamesk', 'owner', 'pk2', 'day', 'byKindpk'].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      GlobalSecondaryIndexes: [
        {
          IndexName: 'byName',
          KeySchema: [hash('byNamepk'), range('byNamesk')],
          Projection: { ProjectionType: 'ALL' },
        },
        { IndexName: 'byOwner', KeySchema: [hash('owner'), range('pk2')], Projection: { ProjectionType: 'KEYS_ONLY' } },
        {
          IndexName: 'byKind',
          KeySchema: [hash('byKindpk')],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['_type', 'total'] },
        },
      ],
      LocalSecondaryIndexes: [
        { IndexName: 'byDay', KeySchema: [hash('id'), range('day')], Projection: { ProjectionType: 'ALL' } },
      ],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    });
  });

  it('leaves the command usable, and has none of the calls around it', () => {
    const command = createTable(offlineTable());
    const chained = command.ifNotExists().waitUntilActive().timeToLive();
    expect(chained.toRequestJson()).toBe(command.toRequestJson());
    expect(chained.toRequest()).toEqual(command.toRequest());
  });

  it('refuses an index that is none, and what is no table', () => {
    expect(() => createTable(offlineTable()).project('none', 'keys')).toThrow(InvalidInputError);
    expect(() => createTable({} as never)).toThrow(InvalidInputError);
  });
});

describe('createTable() on DynamoDB', () => {
  let db: TestDynamoDB;
  beforeAll(async () => {
    db = await testDynamoDB();
  });
  afterAll(() => db.close());
  const newTable = (options: Partial<TableOptions> = {}): Table =>
    table({ name: uniqueTableName('create-table'), client: db.client, ...options });
  /** The table of another program under the same name. */
  const sameName = (shop: Table, options: Partial<TableOptions>): Table =>
    table({ name: shop.name, client: db.client, ...options });

  it('creates the table', async () => {
    const shop = newTable({ indexes: { byName: {} } });
    const result = await createTable(shop).stream('KEYS_ONLY').waitUntilActive();
    expect(result).toMatchObject({ created: true, timeToLiveEnabled: false, drift: [] });
    expect(result.table).toMatchObject({
      TableName: shop.name,
      TableStatus: 'ACTIVE',
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' },
    });
    const Note = entity('NOTE', {
      pk: 'NOTE#{id}',
      sk: 'NOTE',
      attributes: { id: string(), name: string() },
      indexes: { byName: { pk: 'NAME#{name}', sk: '{id}' } },
    });
    await shop.of(Note).put({ id: 'a', name: 'n' });
    expect(await shop.of(Note).index('byName').query({ name: 'n' }).all()).toEqual([{ id: 'a', name: 'n' }]);
  });

  it('throws where it exists, unless told otherwise', async () => {
    const shop = newTable();
    const command = createTable(shop);
    expect((await command.send()).created).toBe(true);
    await expect(command.send()).rejects.toMatchObject({ name: 'ResourceInUseException' });
    const again = await command.ifNotExists().waitUntilActive().send();
    expect(again).toMatchObject({
      created: false,
      timeToLiveEnabled: false,
      drift: [],
      table: { TableName: shop.name },
    });
  });

  it('turns time to live on, for the attribute of the table', async () => {
    const shop = newTable({ timeToLive: 'expires' });
    const command = createTable(shop).ifNotExists().timeToLive();
    expect(await command.send()).toMatchObject({ created: true, timeToLiveEnabled: true });
    const described = await db.client.send(new DescribeTimeToLiveCommand({ TableName: shop.name }));
    expect(described.TimeToLiveDescription).toMatchObject({ TimeToLiveStatus: 'ENABLED', AttributeName: 'expires' });
    expect(await command.send()).toMatchObject({ created: false, timeToLiveEnabled: true, drift: [] });
    expect(await createTable(shop).ifNotExists()).toMatchObject({ timeToLiveEnabled: true });
    const Session = entity('SESSION', { pk: 'S#{id}', sk: 'S', attributes: { id: string(), until: timeToLive() } });
    expect(
      shop
        .of(Session)
        .put({ id: 'a', until: new Date(1000) })
        .toRequest().Item,
    ).toMatchObject({ expires: { N: '1' } });
  });

  it('turns time to live on for a table that exists without', async () => {
    const shop = newTable();
    await createTable(shop);
    expect(await createTable(shop).ifNotExists().timeToLive()).toMatchObject({
      created: false,
      timeToLiveEnabled: true,
      drift: [],
    });
  });

  it('tells what an existing table differs in, and changes none of it', async () => {
    const shop = newTable({ indexes: { byName: {}, byOwner: {}, byDay: { pk: 'pk', sk: 'day' } } });
    await createTable(shop).timeToLive().project('byOwner', ['total']);
    const other = sameName(shop, {
      pk: 'id',
      timeToLive: 'expires',
      indexes: { byName: { sk: 'rank' }, byOwner: {}, byKind: {} },
    });
    const { created, drift, timeToLiveEnabled } = await createTable(other).ifNotExists().timeToLive().stream().send();
    expect([created, timeToLiveEnabled]).toEqual([false, false]);
    expect(drift).toEqual([
      'The keys of the table are pk and sk, not id and sk.',
      'The keys of the index byName are byNamepk and byNamesk, not byNamepk and rank.',
      'The index byOwner holds the keys and _type, total, not everything.',
      'The global index byKind is missing.',
      'The local index byDay is not one of table().',
      'The stream is off; it should show NEW_AND_OLD_IMAGES.',
      'Time to live is on for ttl, not expires.',
    ]);
    expect((await createTable(shop).ifNotExists().project('byOwner', ['total'])).drift).toEqual([]);
  });

  it('tells of a stream that shows something else', async () => {
    const shop = newTable();
    await createTable(shop).stream('KEYS_ONLY');
    expect((await createTable(shop).ifNotExists().stream()).drift).toEqual([
      'The stream shows KEYS_ONLY, not NEW_AND_OLD_IMAGES.',
    ]);
    expect((await createTable(shop).ifNotExists()).drift).toEqual([]);
  });

  it('tells of a key of another type', async () => {
    const shop = newTable();
    await db.client.send(
      new CreateTableCommand({
        ...createTable(shop).toRequest(),
        AttributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'N' },
        ],
      }),
    );
    expect((await createTable(shop).ifNotExists()).drift).toEqual(['The key attribute sk is of type N, not S.']);
  });

  it('ends with its signal', async () => {
    await expect(createTable(newTable()).send({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });
});

describe('createTable() while DynamoDB takes its time', () => {
  const inUse = Object.assign(new Error('exists'), { name: 'ResourceInUseException' });
  const notFound = Object.assign(new Error('none'), { name: 'ResourceNotFoundException' });
  const creating: TableDescription = { TableName: 'shop', TableStatus: 'CREATING' };
  const active: TableDescription = { TableName: 'shop', TableStatus: 'ACTIVE' };
  const mocked = () => {
    const client = offlineClient();
    return { shop: table({ name: 'shop', client }), mock: mockClient(client) };
  };

  it('waits for table and indexes, before it turns time to live on', async () => {
    const { shop, mock } = mocked();
    const index = (IndexStatus: 'CREATING' | 'ACTIVE') => ({
      GlobalSecondaryIndexes: [{ IndexName: 'x', IndexStatus }],
    });
    mock.on(CreateTableCommand).resolves({ TableDescription: creating });
    mock
      .on(DescribeTableCommand)
      .rejectsOnce(notFound)
      .resolvesOnce({ Table: { ...active, ...index('CREATING') } })
      .resolves({ Table: { ...active, ...index('ACTIVE') } });
    mock.on(DescribeTimeToLiveCommand).resolves({ TimeToLiveDescription: { TimeToLiveStatus: 'DISABLED' } });
    mock.on(UpdateTimeToLiveCommand).resolves({});
    const result = await createTable(shop).timeToLive();
    expect(result).toMatchObject({ created: true, timeToLiveEnabled: true, table: { TableStatus: 'ACTIVE' } });
    expect(mock.calls().map(({ args }) => (args[0] as object).constructor.name)).toEqual([
      'CreateTableCommand',
      'DescribeTableCommand',
      'DescribeTableCommand',
      'DescribeTableCommand',
      'DescribeTimeToLiveCommand',
      'UpdateTimeToLiveCommand',
    ]);
  });

  it('does not wait where nobody asked', async () => {
    const { shop, mock } = mocked();
    mock.on(CreateTableCommand).resolves({ TableDescription: creating });
    expect(await createTable(shop)).toMatchObject({ created: true, table: creating });
    expect(mock.calls()).toHaveLength(1);
  });

  it('takes it that somebody else turned time to live on meanwhile', async () => {
    const { shop, mock } = mocked();
    const refused = Object.assign(new Error('TimeToLive is already enabled'), { name: 'ValidationException' });
    mock.on(CreateTableCommand).resolves({ TableDescription: active });
    mock
      .on(DescribeTimeToLiveCommand)
      .resolvesOnce({ TimeToLiveDescription: { TimeToLiveStatus: 'DISABLED' } })
      .resolvesOnce({ TimeToLiveDescription: { TimeToLiveStatus: 'ENABLING', AttributeName: 'ttl' } })
      .resolves({ TimeToLiveDescription: { TimeToLiveStatus: 'DISABLED' } });
    mock.on(UpdateTimeToLiveCommand).rejects(refused);
    expect(await createTable(shop).timeToLive()).toMatchObject({ timeToLiveEnabled: true });
    await expect(createTable(shop).timeToLive()).rejects.toMatchObject({ sdkError: refused });
  });

  it('does not wait for a table that is being deleted', async () => {
    const { shop, mock } = mocked();
    mock.on(CreateTableCommand).rejects(inUse);
    mock.on(DescribeTableCommand).resolves({ Table: { ...active, TableStatus: 'DELETING' } });
    await expect(createTable(shop).ifNotExists().waitUntilActive()).rejects.toThrow(/being deleted/);
  });

  it('stops waiting with its signal', async () => {
    const { shop, mock } = mocked();
    const stop = new AbortController();
    mock.on(CreateTableCommand).resolves({ TableDescription: creating });
    mock.on(DescribeTableCommand).resolves({ Table: creating });
    setTimeout(() => stop.abort(), 20);
    const send = createTable(shop).waitUntilActive().send({ signal: stop.signal });
    await expect(send).rejects.toMatchObject({ name: 'AbortError' });
  });
});
