import type { AttributeMap } from '../../../lib/commands/index.js';
import { simulate } from '../../../lib/local/index.js';
import { makeShop, shopOf } from '../workload.js';
import { storedRecords, writeRecords } from './records.js';

const noFaults = {
  lost: 0,
  late: 0,
  dropped: 0,
  refused: 0,
  throttled: 0,
  conflict: 0,
  inProgress: 0,
  crash: 0,
  leap: 0,
  sweep: 0,
};

/** The records as this code writes them, at the time and with the random numbers of one seed. */
export const recordsNow = async (): Promise<AttributeMap[]> => {
  let records: AttributeMap[] = [];
  await simulate(
    () => ({
      prepare: makeShop,
      plan: () => [['write']],
      start: ({ clientConfig }) => shopOf(clientConfig),
      run: (shop) => writeRecords(shop),
      async check({ clientConfig }) {
        records = await storedRecords(shopOf(clientConfig));
      },
    }),
    { seeds: 1, faults: noFaults },
  );
  return records;
};
