import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundledFunction } from '../lib/functions.mjs';
import { lines } from '../lib/lines.mjs';
import { bench } from '../lib/paths.mjs';
import { interleaved, sample } from '../lib/process.mjs';
import { digits, median } from '../lib/statistics.mjs';
import { markdown } from '../lib/table.mjs';

const folder = join(bench, 'results', '.throughput');
const script = join(import.meta.dirname, 'sample.mjs');
const delays = [1, 5, 20];
/** That of the plots, and of what is measured with one delay only. */
const plotted = 5;
/** Parts of the size, for how it grows; the whole is in the tables. */
const parts = [0.1, 0.25, 0.5];

const names = {
  safewrites: 'safewrites',
  'safewrites, 50 at once': 'safewrites, `concurrency: 50`',
  powertools: 'Powertools',
  sequential: 'a sequential loop',
  bare: 'the bare client, no answer kept',
};

/** How the sides do on one case: medians of the rounds. */
const measured = (sides, rounds, given) => {
  const samples = interleaved(sides, rounds, (side) => sample(script, JSON.stringify({ ...given, side })));
  return sides.map((side) => {
    const of = (field) => median(samples.get(side).map((one) => one[field]));
    return { side, of, size: given.size, perSecond: (given.size / of('wallMs')) * 1000 };
  });
};

/** A loop of one request after the other: a tenth says what all takes, whatever the keys. */
const loop = (rounds, given) => {
  const size = Math.ceil(given.size / 10);
  const [one] = measured(['sequential'], rounds, { ...given, size, keys: size, aggregates: size, batch: size });
  return { ...one, note: `, ${digits(size)} events` };
};

const charges = (rounds, scale, bundle) => {
  const sides = ['safewrites', 'powertools', 'bare'];
  const all = delays.flatMap((delayMs) =>
    (delayMs === plotted ? [1, 5, 10, 25, 50] : [1, 10, 50]).flatMap((concurrency) => {
      const size = Math.ceil(scale * (concurrency === 1 ? 200 : 1000));
      return measured(sides, rounds, { job: 'charge', delayMs, size, concurrency, bundle }).map((one) => ({
        ...one,
        delayMs,
        concurrency,
      }));
    }),
  );
  const rows = all.map(({ side, of, size, perSecond, delayMs, concurrency }) => [
    `${delayMs} ms, ${concurrency} at a time: ${names[side]}`,
    ...[perSecond, of('p50'), of('p99'), of('requests') / size, of('cpuMs') / size].map(digits),
  ]);
  const series = sides.map((side) => ({
    name: names[side],
    points: all
      .filter((one) => one.side === side && one.delayMs === plotted)
      .map(({ concurrency, perSecond }) => [concurrency, perSecond]),
  }));
  const plot = lines({
    title: `Charges, ${plotted} ms a request`,
    x: 'calls at a time',
    y: 'charges a second',
    series,
  });
  const head = ['', 'charges a second', 'p50 ms', 'p99 ms', 'requests a charge', 'CPU ms a charge'];
  return { all, text: markdown(head, rows), plot };
};

const head = [
  '',
  'seconds',
  'time an event against safewrites',
  'events a second',
  'requests',
  'most at once',
  'CPU s',
];
const rowsOf = (label, all) =>
  all.map(({ side, of, perSecond, note = '' }) => [
    `${label}${names[side]}${note}`,
    digits(of('wallMs') / 1000),
    digits(all[0].perSecond / perSecond),
    digits(perSecond),
    digits(of('requests')),
    digits(of('mostInFlight')),
    digits(of('cpuMs') / 1000),
  ]);

const ingestSides = ['safewrites', 'safewrites, 50 at once', 'powertools'];
const relaySides = ['safewrites', 'powertools'];

/** Seconds over the size, from a tenth of it to the whole, which was measured already. */
const growth = (title, rounds, whole, sides, given) => {
  const [{ size }] = whole;
  const runs = parts.map((part) => {
    const count = Math.ceil(size * part);
    return measured(sides, rounds, { delayMs: plotted, size: count, ...given(count) });
  });
  const series = sides.map((side) => ({
    name: names[side].replaceAll('`', ''),
    points: [...runs, whole].map((all) => {
      const one = all.find((each) => each.side === side);
      return [one.size, one.of('wallMs') / 1000];
    }),
  }));
  const [[least, first]] = series[0].points;
  const [most, last] = series[0].points.at(-1);
  const text = `${digits(most / least)} times the events take safewrites ${digits(last / first)} times the time.`;
  return {
    text,
    plot: lines({ title: `${title}, ${plotted} ms a request`, x: 'events', y: 'seconds', series }),
  };
};

const ingests = (rounds, size, bundle) => {
  const given = { job: 'ingest', bundle };
  const tables = {};
  const whole = {};
  for (const delayMs of delays) {
    const counts = [10, 100, size];
    const loops = loop(rounds, { ...given, delayMs, size });
    tables[delayMs] = counts.flatMap((keys) => {
      const all = measured(ingestSides, rounds, { ...given, delayMs, size, keys, batch: size });
      if (delayMs === plotted) whole[keys === size ? 'many' : keys] = [...all, loops];
      return rowsOf(`${digits(keys)} keys: `, [...all, loops]);
    });
  }
  const few = growth('Ingest of one batch over 100 keys', rounds, whole[100], ingestSides, (count) => ({
    ...given,
    keys: 100,
    batch: count,
  }));
  const many = growth('Ingest of one batch, each event a key', rounds, whole.many, ingestSides, (count) => ({
    ...given,
    keys: count,
    batch: count,
  }));
  const small = measured(ingestSides, rounds, { ...given, delayMs: plotted, size, keys: 100, batch: 100 });
  return { tables, whole, few, many, small };
};

const relays = (rounds, size) => {
  const given = { job: 'relay', batch: 100 };
  const tables = {};
  const whole = {};
  for (const delayMs of delays) {
    const loops = loop(rounds, { ...given, delayMs, size });
    tables[delayMs] = (delayMs === plotted ? [100, size] : [size]).flatMap((aggregates) => {
      const all = measured(relaySides, rounds, { ...given, delayMs, size, aggregates });
      if (delayMs === plotted) whole[aggregates === size ? 'many' : aggregates] = [...all, loops];
      return rowsOf(`${digits(aggregates)} aggregates: `, [...all, loops]);
    });
  }
  const grown = growth('Relay, each event an aggregate', rounds, whole.many, relaySides, (count) => ({
    ...given,
    aggregates: count,
  }));
  return { tables, whole, grown };
};

/** What docs/performance.md shows of it. */
const summary = (charged, ingested, relayed) => {
  const of = (all, side) => all.find((one) => one.side === side);
  const chargeAt = (concurrency, side) =>
    charged.all.find((one) => one.delayMs === plotted && one.concurrency === concurrency && one.side === side);
  const rate = (what, all) => [
    what,
    ...['safewrites', 'powertools', 'sequential'].map((side) => digits(of(all, side).perSecond)),
  ];
  const charge = (concurrency) => [
    `charges a second, ${concurrency} at a time`,
    digits(chargeAt(concurrency, 'safewrites').perSecond),
    digits(chargeAt(concurrency, 'powertools').perSecond),
    '',
  ];
  const wide = of(ingested.whole.many, 'safewrites, 50 at once');
  return markdown(
    ['', 'safewrites', 'Powertools, all of a batch at once', 'a sequential loop'],
    [
      charge(1),
      charge(10),
      charge(50),
      rate('ingested events a second, one batch over 10 keys', ingested.whole[10]),
      rate('the same over 100 keys', ingested.whole[100]),
      rate('the same, each event a key', ingested.whole.many),
      ['the same with `concurrency: 50`', digits(wide.perSecond), '', ''],
      rate('relayed events a second, batches of 100, each event an aggregate', relayed.whole.many),
    ],
  );
};

/** Throughput and tail with time added to each request, by real timers. */
export const throughput = async ({ rounds, scale }) => {
  // At full size a run takes long enough to be one.
  const times = Math.min(rounds, scale < 0.5 ? 3 : 1);
  const size = Math.ceil(10_000 * scale);
  try {
    const charged = charges(times, scale, await bundledFunction(folder, 'charge'));
    const ingested = ingests(times, size, await bundledFunction(folder, 'ingest'));
    const relayed = relays(times, size);
    const events = digits(size);
    const text = [
      `Each request to DynamoDB and to the bus takes 1, 5 or 20 ms more, by a real timer; at most 50 run at once, as with ` +
        "the sockets of the SDK's own client. The table is the embedded one, in a process of its own: its CPU is not in the " +
        'figures, its time is, and it has no limit of a partition. Each run is checked: every charge stored, every state ' +
        'the newest, every event published once and removed.',
      `Sizes: ${events} events, ${digits(Math.ceil(200 * scale))} charges one at a time and ` +
        `${digits(Math.ceil(1000 * scale))} otherwise (scale ${scale}). The sequential loop is measured with a tenth of the ` +
        'events, since it takes the same for each, whatever the keys.',
      `### Charges\n\n${charged.text}\n\n![Charges](throughput-charge.svg)`,
      ...delays.map(
        (delayMs) =>
          `### Ingest of ${events} events in one batch, ${delayMs} ms a request\n\n${markdown(head, ingested.tables[delayMs])}`,
      ),
      `### Ingest of ${events} events over 100 keys in batches of 100, ${plotted} ms a request\n\n` +
        markdown(head, rowsOf('', ingested.small)),
      `### How the ingest grows\n\nOver 100 keys, ${ingested.few.text} Each event a key, ${ingested.many.text}\n\n` +
        '![Ingest over 100 keys](throughput-ingest-few.svg)\n\n![Ingest, each event a key](throughput-ingest-many.svg)',
      ...delays.map(
        (delayMs) =>
          `### Relay of ${events} events in batches of 100, ${delayMs} ms a request\n\n${markdown(head, relayed.tables[delayMs])}`,
      ),
      'The peers of the relay send one PutEvents and one delete for each record of the stream. Powertools does so for all ' +
        'of a batch at once, without order; the sequential loop and safewrites keep the order of an aggregate. Reads of ' +
        'the outbox, by shard, are what safewrites asks more, and fuller requests to the bus what it asks less.',
      `### How the relay grows\n\n${relayed.grown.text}\n\n![Relay](throughput-relay.svg)`,
    ].join('\n\n');
    const plots = {
      'throughput-charge.svg': charged.plot,
      'throughput-ingest-few.svg': ingested.few.plot,
      'throughput-ingest-many.svg': ingested.many.plot,
      'throughput-relay.svg': relayed.grown.plot,
    };
    const tables = { throughput: summary(charged, ingested, relayed) };
    return { title: 'Throughput and tail', text, plots, tables, taken: times };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
