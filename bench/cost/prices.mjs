import { markdown } from '../lib/table.mjs';

// On demand, us-east-1 (https://aws.amazon.com/dynamodb/pricing/on-demand/).
const usdPerMillionWriteUnits = 0.625;
const usdPerMillionReadUnits = 0.125;

const cells = ({ requests, writeUnits, readUnits }, per = 1) => {
  const usd = (writeUnits * usdPerMillionWriteUnits + readUnits * usdPerMillionReadUnits) / per;
  const each = [requests, writeUnits, readUnits].map((number) => String(number / per));
  return [...each, usd.toFixed(2)];
};

const rowOf = (counts) => (title, what) => {
  const row = counts[title].find((one) => one.what === what);
  if (row === undefined) throw new Error(`There is no row ${what} in ${title}.`);
  return row;
};

const fields = ['requests', 'writeUnits', 'readUnits'];
const together = (a, b, sign) => Object.fromEntries(fields.map((field) => [field, a[field] + sign * b[field]]));

/** What a million of each costs, by what was counted. */
export const calculator = (counts) => {
  const row = rowOf(counts);
  const charge = (what) => row('The charge', what);
  const sqs = (what) => row('The ingest from SQS', `safewrites: ${what}`);
  const relay = (what) => row('The relay', `safewrites: ${what}`);
  const session = (what) => row('Message session, `messageHandler`', `safewrites: ${what}`);
  const locking = (what) => row('Optimistic locking, `readModifyWrite`', `safewrites: ${what}`);
  const lock = (what) => row('Lock, `Locks`', `safewrites: ${what}`);
  const inbox = session('first delivery, the inbox record alone');
  const rows = [
    ['a charge, first call', charge('safewrites: first call')],
    ['the same, repeated: a cancelled transaction', charge('safewrites: repeat')],
    ['a charge with `readFirst`, first call', charge('safewrites, `readFirst`: first call')],
    ['the same, repeated', charge('safewrites, `readFirst`: repeat')],
    ['an ingested event, alone for its key in its batch', sqs('10 events of 10 keys'), 10],
    ['an ingested event, ten of one key in a batch', sqs('10 events of 1 key, in order'), 10],
    ['a message handled, its inbox record alone', inbox],
    ['an event published with it', together(session('first delivery, an event'), inbox, -1)],
    ['an event relayed, alone for its aggregate', relay('1 event')],
    ['an event relayed, in a batch of 100 aggregates', relay('100 events of 100 aggregates'), 100],
    ['an event relayed, ten of one aggregate waiting', relay('10 events of 1 aggregate, of 10 transactions'), 10],
    ['`readModifyWrite`', locking('success')],
    ['the same, `repeatable`', locking('success, `repeatable`')],
    [
      'a record registered with 2 unique values',
      row('Uniqueness claims, `uniqueClaims`', 'safewrites: register a record with 2 claims'),
    ],
    [
      'a leased call, one effect outside of DynamoDB',
      row('Idempotency lease, `idempotentLease`', 'safewrites: first call, one effect outside'),
    ],
    ['an add to a counter', row('Counters', 'safewrites: `increment`, first and repeat')],
    ['a hi/lo number', row('Hi/lo and gapless numbers', 'safewrites: hi/lo, 100 numbers'), 100],
    ['a gapless number with its record', row('Hi/lo and gapless numbers', 'safewrites: gapless, a number')],
    ['a lock, acquired and released', together(lock('acquire'), lock('release'), 1)],
  ];
  return markdown(
    ['', 'requests', 'write units', 'read units', 'USD a million'],
    rows.map(([what, counted, per]) => [what, ...cells(counted, per)]),
  );
};

/** The same effects with Powertools. */
export const comparison = (counts) => {
  const row = rowOf(counts);
  const pairs = [
    [
      'a charge, first call',
      'The charge',
      'safewrites: first call',
      'Powertools idempotency, the effect in a transaction of its own: first call',
      1,
    ],
    [
      'a charge, repeated',
      'The charge',
      'safewrites: repeat',
      'Powertools idempotency, the effect in a transaction of its own: repeat',
      1,
    ],
    [
      'a charge, repeated, with `readFirst`',
      'The charge',
      'safewrites, `readFirst`: repeat',
      'Powertools idempotency, the effect in a transaction of its own: repeat',
      1,
    ],
    [
      'ten events of ten keys',
      'The ingest from SQS',
      'safewrites: 10 events of 10 keys',
      'Powertools batch, a conditional update a record: 10 events of 10 keys',
      1,
    ],
    [
      'ten events of one key',
      'The ingest from SQS',
      'safewrites: 10 events of 1 key, in order',
      'Powertools batch, a conditional update a record: 10 events of 1 key, in order',
      1,
    ],
    [
      'a hundred events relayed, as many aggregates',
      'The relay',
      'safewrites: 100 events of 100 aggregates',
      'Powertools batch: 100 events of 100 aggregates',
      1,
    ],
  ];
  const show = ({ requests, writeUnits, readUnits, bus }) =>
    `${requests}${bus === undefined ? '' : ` and ${bus} to the bus`}; ${writeUnits} W${readUnits > 0 ? `, ${readUnits} R` : ''}`;
  return markdown(
    ['', 'safewrites', 'Powertools'],
    pairs.map(([what, title, ours, theirs]) => [what, show(row(title, ours)), show(row(title, theirs))]),
  );
};
