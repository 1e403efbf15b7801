import { readFileSync } from 'node:fs';
import path from 'node:path';
import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import { createTable, type AttributeMap } from '../../../lib/commands/index.js';
import type { SimulatedClientConfig } from '../../../lib/local/index.js';
import { checkThings, storedRecords, uses } from '../formats/records.js';
import { must, shopOf, workload } from '../workload.js';

/** Records as the kit's present formats store them. A new format adds a file, and every file is read from then on. */
export const presentRecords = JSON.parse(
  readFileSync(path.join(process.cwd(), 'test/simulation/formats/present.json'), 'utf8'),
) as AttributeMap[];

/** The same as newer code would store them: the next format, and an attribute that this code knows nothing of. */
const nextRecords = presentRecords.map((item): AttributeMap => {
  // Of the idempotency record, 1 and 2 are both present formats.
  const next = item['_type']?.S === 'IDEMPOTENCY' ? 3 : Number(item['format']?.N) + 1;
  return { ...item, format: { N: String(next) }, added: { S: 'by newer code' } };
});

const tables = { shop: presentRecords, next: nextRecords };

interface Use {
  readonly what: string;
  readonly on: keyof typeof tables;
}

/** Old and new code side by side: records of the present formats are honoured, those of newer ones refused and kept. */
export const formats = workload<Use, SimulatedClientConfig>('formats', { leapMs: 1_000 }, () => ({
  async prepare({ clientConfig }) {
    for (const [name, items] of Object.entries(tables)) {
      const shop = shopOf(clientConfig, name);
      await createTable(shop);
      const RequestItems = { [name]: items.map((Item) => ({ PutRequest: { Item } })) };
      await shop.client.send(new BatchWriteItemCommand({ RequestItems }));
    }
  },
  plan: (random) =>
    Array.from({ length: 2 }, () =>
      Array.from({ length: 4 }, () => ({
        what: random.pick(Object.keys(uses)),
        on: random.pick(['shop', 'next', 'next'] as const),
      })),
    ),
  start: ({ clientConfig }) => clientConfig,
  async run(clientConfig, { what, on }, { attempt, invariant }) {
    try {
      await uses[what]?.(shopOf(clientConfig, on));
      invariant(on === 'shop', `${what} takes a record of a newer format for one of its own.`);
    } catch (error) {
      const { name, message } = error as Error;
      // The kit's own check of what was found; after a crash, or a lost answer, a use may meet its own first time.
      invariant(name !== 'BrokenError' || attempt > 1 || what === 'saga' || what === 'numbers', message);
      throw error;
    }
  },
  async check({ clientConfig }) {
    const next = shopOf(clientConfig, 'next');
    const [left, before] = [await storedRecords(next), sorted(nextRecords)];
    must(JSON.stringify(left.map(sortedMembers)) === JSON.stringify(before), 'A record of a newer format was changed.');
    for (const name of Object.keys(tables)) await checkThings(shopOf(clientConfig, name));
  },
}));

const sortedMembers = (item: AttributeMap): unknown =>
  Object.entries(item)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => [name, JSON.stringify(value)]);

const keyOf = (item: AttributeMap): string => `${item['pk']?.S}/${item['sk']?.S}`;
const sorted = (items: readonly AttributeMap[]): unknown[] =>
  items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)).map(sortedMembers);
