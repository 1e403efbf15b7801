/**
 * Building and reading requests, beside the SDK's own marshalling: `npm run bench`. Ratios of CPU time in one process,
 * the sides interleaved; the smaller the better. What the DocumentClient does beyond marshalling (cloning its command,
 * its middleware) is not counted for it.
 */
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { boolean, entity, integer, list, map, number, oneOf, string, table } from '../lib/commands/index.js';

const Order = entity('ORDER', {
  pk: 'CUSTOMER#{customer}',
  sk: 'ORDER#{number:10}',
  attributes: {
    customer: string(),
    number: integer(),
    status: oneOf('OPEN', 'PAID'),
    total: number(),
    note: string(),
    paid: boolean(),
    quantity: integer(),
    rank: integer(),
    lines: list(map({ sku: string(), quantity: integer(), price: number() })),
    shipTo: map({ city: string(), zip: string(), street: string() }),
  },
});

const client = new DynamoDBClient({ region: 'eu-west-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
const orders = table({ name: 'shop', client }).of(Order);
const options = { removeUndefinedValues: true };
const key = { customer: 'alice', number: 1 };
const item = {
  ...key,
  status: 'OPEN' as const,
  total: 12.5,
  note: 'leave at the door',
  paid: false,
  quantity: 3,
  rank: 4,
  lines: [
    { sku: 'KB-01', quantity: 1, price: 79.5 },
    { sku: 'KB-02', quantity: 2, price: 3.25 },
  ],
  shipTo: { city: 'Bern', zip: '3000', street: 'Kramgasse 1' },
};
const storedKey = { pk: 'CUSTOMER#alice', sk: 'ORDER#0000000001' };
const stored = orders.put(item).toRequest().Item ?? {};
/** Reading has no terminal that runs without a request, so the decoder is taken from the binding. */
const compiled = (orders as unknown as { binding_: { entity_: { decode_(stored: object): unknown } } }).binding_
  .entity_;

const cases: readonly { name: string; ours: () => unknown; sdk: () => unknown }[] = [
  {
    name: 'update of three attributes with a condition',
    ours: () =>
      orders.update(key).set({ status: 'PAID', total: 3, note: 'paid' }).if(Order.attrs.total.lt(5)).toRequest(),
    sdk: () =>
      new UpdateItemCommand({
        TableName: 'shop',
        Key: marshall(storedKey, options),
        UpdateExpression: 'SET #a = :a, #b = :b, #c = :c, #t = if_not_exists(#t, :t)',
        ConditionExpression: '#b < :d',
        ExpressionAttributeNames: { '#a': 'status', '#b': 'total', '#c': 'note', '#t': '_type' },
        ExpressionAttributeValues: marshall({ ':a': 'PAID', ':b': 3, ':c': 'paid', ':d': 5, ':t': 'ORDER' }, options),
      }),
  },
  {
    name: 'put of ten attributes, nested',
    ours: () => orders.put(item).toRequest(),
    sdk: () => marshall({ ...item, ...storedKey, _type: 'ORDER' }, options),
  },
  { name: 'read of that item', ours: () => compiled.decode_(stored), sdk: () => unmarshall(stored) },
];

const cpuMicroseconds = (run: () => unknown, times: number): number => {
  const start = process.cpuUsage();
  for (let i = 0; i < times; i++) run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / times;
};

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] as number;

for (const { name, ours, sdk } of cases) {
  const samples: { ours: number; sdk: number }[] = [];
  for (let i = 0; i < 11; i++) samples.push({ ours: cpuMicroseconds(ours, 20_000), sdk: cpuMicroseconds(sdk, 20_000) });
  const ratios = samples.slice(1).map((sample) => sample.ours / sample.sdk);
  const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
  console.log(`${name}: ${median(ratios).toFixed(2)} of the SDK's marshalling (${spread})`);
}
