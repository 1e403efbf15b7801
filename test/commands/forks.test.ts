import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CommandUsedError, conditionCheck, transactWrite, type Update } from '../../lib/commands/index.js';
import type { CompiledEntity } from '../../lib/commands/entity/compiled.js';
import { modelOf } from '../../lib/commands/entity/entity.js';
import { bindingOf } from '../../lib/commands/table/table.js';
import { offlineTable } from './support/offline.js';
import { Cart, Order, order, shopOptions } from './support/shop.js';

const shop = offlineTable(shopOptions);
const orders = shop.of(Order);
const carts = shop.of(Cart);
const { attrs } = Order;
const key = { customer: 'alice', number: 1 };

type AnyUpdate = Update<typeof Order, unknown, unknown>;

/** Clauses that add values, and some that add none or throw halfway. */
const clauses: ((command: AnyUpdate, n: number) => AnyUpdate)[] = [
  (command, n) => command.if(attrs.total.gt(n)),
  (command, n) => command.if(attrs.total.in(...Array.from({ length: (n % 4) + 1 }, (_, i) => n + i))),
  (command, n) => command.if(Order.text`${attrs.total} = ${attrs.total.value(n)}`),
  (command, n) => command.set(attrs.labels.at(`l${n}`), String(n)),
  (command) => command.ifExists(),
  (command) => command.returnOldOnFailure(),
  (command) => command.returnCapacity(),
  (command, n) => {
    expect(() => command.set({ note: String(n), total: 'x' as never })).toThrow();
    return command.if(attrs.note.ne(String(n)));
  },
];

describe('forks of a command', () => {
  it('see nothing of each other, whatever the tree', () => {
    const step = fc.record({
      from: fc.nat(),
      clause: fc.nat(clauses.length - 1),
      n: fc.nat(1000),
      renders: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        interface Node {
          readonly command: AnyUpdate;
          readonly path: readonly { clause: number; n: number }[];
        }
        let open: Node[] = [{ command: orders.update(key), path: [] }];
        const check = ({ command, path }: Node): void => {
          const alone = path.reduce(
            (built, { clause, n }) => clauses[clause]?.(built, n) as AnyUpdate,
            orders.update(key),
          );
          expect(command.toRequest()).toEqual(alone.toRequest());
        };
        for (const { from, clause, n, renders } of steps) {
          const { command, path } = open[from % open.length] as Node;
          if (path.some((before) => before.clause === 3 && clause === 3 && before.n === n)) continue;
          open.push({ command: clauses[clause]?.(command, n) as AnyUpdate, path: [...path, { clause, n }] });
          if (renders && open.length > 1) {
            const used = open[from % open.length] as Node;
            check(used);
            open = open.filter((node) => node !== used);
          }
        }
        open.forEach(check);
      }),
      { numRuns: 300 },
    );
  });

  it('may take different versions of one prefix', () => {
    const prefix = carts.update({ id: 'a' }).set({ owner: 'bob' });
    const requests = [
      prefix.ifVersion(1),
      prefix.ignoreVersion(),
      prefix.ifVersion(2),
      prefix.set({ revision: 9 }).ifVersion(3),
    ];
    expect(requests.map((command) => command.toRequest().ExpressionAttributeValues)).toEqual([
      { ':0': { S: 'CART' }, ':1': { S: 'bob' }, ':2': { N: '1' }, ':3': { N: '2' } },
      { ':0': { S: 'CART' }, ':1': { S: 'bob' }, ':2': { N: '0' }, ':3': { N: '1' } },
      { ':0': { S: 'CART' }, ':1': { S: 'bob' }, ':2': { N: '2' }, ':3': { N: '3' } },
      { ':0': { S: 'CART' }, ':1': { S: 'bob' }, ':2': { N: '9' }, ':3': { N: '3' } },
    ]);
  });

  it('of a put keep its item', () => {
    const put = carts.put({ id: 'a', revision: 3 });
    const [checked, unchecked] = [put.if(Cart.attrs.owner.exists()), put.ignoreVersion()];
    expect(unchecked.toRequest().ConditionExpression).toBeUndefined();
    expect(checked.toRequest().ConditionExpression).toBe('(attribute_exists(#0)) AND (#1 = :0)');
  });

  it('own the request that they render', () => {
    const [first, second] = [orders.update(key).set({ note: 'x' }), orders.update(key).set({ note: 'x' })];
    const request = first.toRequest();
    (request.ExpressionAttributeNames as Record<string, string>)['#0'] = 'changed';
    (request as { UpdateExpression: string }).UpdateExpression = 'changed';
    (request.Key as Record<string, unknown>)['pk'] = { S: 'changed' };
    expect(second.toRequest()).toMatchObject({
      Key: { pk: { S: 'CUSTOMER#alice' } },
      UpdateExpression: 'SET #0 = if_not_exists(#0, :0), #1 = :1',
      ExpressionAttributeNames: { '#0': '_type' },
    });
  });
});

describe('a command that was used', () => {
  const used: [string, () => { toRequest(): unknown }, (command: never) => unknown][] = [
    ['put', () => orders.put(order()), (command: ReturnType<typeof orders.put>) => command.ifExists()],
    ['update', () => orders.update(key), (command: ReturnType<typeof orders.update>) => command.set({ total: 1 })],
    [
      'update, by an option',
      () => orders.update(key),
      (command: ReturnType<typeof orders.update>) => command.returnOld(),
    ],
    ['update, by return()', () => orders.update(key), (c: ReturnType<typeof orders.update>) => c.return(attrs.total)],
    ['delete', () => orders.delete(key), (command: ReturnType<typeof orders.delete>) => command.if(attrs.total.gt(1))],
    ['get', () => orders.get(key), (command: ReturnType<typeof orders.get>) => command.consistent()],
    ['query', () => orders.query({ customer: 'a' }), (command: ReturnType<typeof orders.query>) => command.reverse()],
    [
      'query, by a range',
      () => orders.query({ customer: 'a' }),
      (c: ReturnType<typeof orders.query>) => c.lt({ number: 5 }),
    ],
    [
      'query, by a filter',
      () => orders.query({ customer: 'a' }),
      (c: ReturnType<typeof orders.query>) => c.filter(attrs.total.gt(1)),
    ],
  ];

  it.each(used)('%s takes no clause and is not rendered again', (_, make, clause) => {
    const command = make();
    expect(command.toRequest()).toBeDefined();
    expect(() => clause(command as never)).toThrow(CommandUsedError);
    expect(() => command.toRequest()).toThrow(CommandUsedError);
  });

  it('rejects when it is sent, and sends nothing', async () => {
    const sendable = [
      [orders.put(order()), 'send'],
      [orders.update(key), 'trySend'],
      [orders.delete(key), 'send'],
      [orders.get(key), 'item'],
      [orders.query({ customer: 'a' }), 'page'],
      [orders.query({ customer: 'a' }), 'all'],
      [orders.query({ customer: 'a' }), 'count'],
      [orders.query({ customer: 'a' }), 'first'],
    ] as const;
    for (const [command, terminal] of sendable) {
      command.toRequest();
      await expect((command as unknown as Record<string, () => Promise<unknown>>)[terminal]?.()).rejects.toThrow(
        CommandUsedError,
      );
    }
    expect((shop.client as { sent?: number }).sent).toBe(0);
  });

  it('is used up by a transaction, and a transaction by rendering', () => {
    const put = orders.put(order());
    const transaction = transactWrite(shop, { put });
    expect(transaction.toRequest().TransactItems).toHaveLength(1);
    expect(() => put.ifExists()).toThrow(CommandUsedError);
    expect(() => transaction.returnCapacity()).toThrow(CommandUsedError);
    expect(() => transaction.toRequest()).toThrow(CommandUsedError);
    expect(() => transactWrite(shop, { again: put }).toRequest()).toThrow(CommandUsedError);
    const check = conditionCheck(orders, key).ifExists();
    transactWrite(shop, { check }).toRequest();
    expect(() => check.ifNotExists()).toThrow(CommandUsedError);
  });

  it('can not stand in one transaction twice', () => {
    const put = orders.put(order());
    expect(() => transactWrite(shop, { first: put, second: put }).toRequest()).toThrow(CommandUsedError);
  });

  it('leaves its forks usable', () => {
    const prefix = orders.update(key).set({ note: 'x' });
    const fork = prefix.ifExists();
    prefix.toRequest();
    expect(fork.toRequest().ConditionExpression).toBe('attribute_exists(#2)');
  });

  it('stays usable where building it was refused', () => {
    const command = orders.update(key).set({ status: 'PAID' });
    expect(() => command.toRequest()).toThrow();
    expect(command.set({ placedAt: new Date(0) }).toRequest().UpdateExpression).toBeDefined();
  });
});

describe('the texts that an entity keeps', () => {
  /** Nodes of the trie that are kept. */
  const nodes = (entity: CompiledEntity): number => {
    const count = (node: unknown): number => {
      const { first, others } = node as { first?: object; others?: Map<number, object> };
      return [first, ...(others?.values() ?? [])].reduce((sum: number, next) => sum + (next ? 1 + count(next) : 0), 0);
    };
    return count(entity.root_);
  };
  const compiled = bindingOf(orders).entity_;

  it('do not grow with list indexes, names of records, and text', () => {
    for (let i = 0; i < 200; i++) {
      const update = orders
        .update(key)
        .set(attrs.labels.at(`name${i}`), 'x')
        .set(attrs.lines.at(i).sku, 'x');
      update.if(Order.text`${attrs.total} > ${attrs.total.value(i)}`).toRequest();
    }
    const before = nodes(compiled);
    for (let i = 200; i < 3000; i++) {
      const update = orders
        .update(key)
        .set(attrs.labels.at(`name${i}`), 'x')
        .set(attrs.lines.at(i).sku, 'x');
      update.if(Order.text`${attrs.total} > ${attrs.total.value(i)}`).toRequest();
    }
    expect(nodes(compiled) - before).toBeLessThan(10);
  });

  it('are bounded in all, and the same past the bound', () => {
    const names = ['note', 'weight', 'tags', 'labels', 'lines', 'shipTo', 'scores', 'expiresAt'] as const;
    const render = (bits: number): unknown => {
      let update = orders.update(key);
      names.forEach((name, i) => {
        if ((bits & (1 << i)) !== 0) update = update.remove(attrs[name]);
        if ((bits & (1 << (i + 8))) !== 0) update = update.if((attrs[name] as typeof attrs.note).exists());
      });
      return update.toRequest();
    };
    const first = render(0b10101010);
    for (let bits = 0; bits < 2 ** 16; bits += 7) render(bits);
    expect(nodes(compiled)).toBeLessThanOrEqual(4096);
    expect(render(0b10101010)).toEqual(first);
    expect(modelOf(Order)).toBeDefined();
  });
});
