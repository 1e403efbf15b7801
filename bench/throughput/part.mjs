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
/** That of the plots. */
const plotted = 5;

const names = {
  safewrites: 'safewrites',
  'safewrites, 50 at once': 'safewrites, `concurrency: 50`',
  powertools: 'Powertools',
  sequential: 'a sequential loop',
  bare: 'the transaction alone, by the bare client',
};

/** How the sides do on one case: medians of the rounds, and the ratio of time within a round. */
const measured = (sides, rounds, given) => {
  const samples = interleaved(sides, rounds, (side) => sample(script, JSON.stringify({ ...given, side })));
  return sides.map((side) => {
    const own = samples.get(side);
    const of = (field) => median(own.map((one) => one[field]));
    const against = median(own.map((one, i) => one.wallMs / samples.get('safewrites')[i].wallMs));
    return { side, of, against, perSecond: (given.size / of('wallMs')) * 1000 };
  });
};

const chargeTable = (rounds, scale, bundle) => {
  const sides = ['safewrites', 'powertools', 'bare'];
  const series = sides.map((side) => ({ name: names[side], points: [] }));
  const rows = delays.flatMap((delayMs) =>
    [1, 10, 50].flatMap((concurrency) => {
      const size = Math.ceil(100 * scale * (concurrency === 1 ? 2 : 20));
      return measured(sides, rounds, { job: 'charge', delayMs, size, concurrency, bundle }).map(
        ({ side, of, perSecond }, i) => {
          if (delayMs === plotted) series[i].points.push([concurrency, Math.round(perSecond)]);
          const figures = [perSecond, of('p50'), of('p99'), of('requests') / size, of('cpuMs') / size].map(digits);
          return [`${delayMs} ms, ${concurrency} at a time: ${names[side]}`, ...figures];
        },
      );
    }),
  );
  const head = ['', 'charges a second', 'p50 ms', 'p99 ms', 'requests a charge', 'CPU ms a charge'];
  const plot = lines({ title: `Charges, ${plotted} ms a request`, x: 'at a time', y: 'a second', series });
  return { rows, head, plot };
};

const head = ['', 'seconds', 'against safewrites', 'a second', 'requests', 'most at once', 'CPU s'];
const cells = ({ of, against, perSecond }) => [
  digits(of('wallMs') / 1000),
  digits(against),
  digits(perSecond),
  digits(of('requests')),
  digits(of('mostInFlight')),
  digits(of('cpuMs') / 1000),
];

const ingestSides = ['safewrites', 'safewrites, 50 at once', 'powertools', 'sequential'];
const ingestTable = (rounds, size, delayMs, bundle) =>
  [10, 100, size].flatMap((keys) =>
    measured(ingestSides, rounds, { job: 'ingest', delayMs, size, keys, batch: size, bundle }).map((one) => [
      `${digits(keys)} keys: ${names[one.side]}`,
      ...cells(one),
    ]),
  );

const relaySides = ['safewrites', 'powertools', 'sequential'];
const relayTable = (rounds, size, delayMs) =>
  [100, size].flatMap((aggregates) =>
    measured(relaySides, rounds, { job: 'relay', delayMs, size, aggregates, batch: 100 }).map((one) => [
      `${digits(aggregates)} aggregates: ${names[one.side]}`,
      ...cells(one),
    ]),
  );

/** Seconds over the size, from a tenth of it. */
const growth = (title, rounds, size, sides, given) => {
  const series = sides.map((side) => ({ name: names[side].replaceAll('`', ''), points: [] }));
  for (const part of [0.1, 0.25, 0.5, 1]) {
    const count = Math.ceil(size * part);
    measured(sides, rounds, { delayMs: plotted, size: count, ...given(count) }).forEach(({ of }, i) =>
      series[i].points.push([count, of('wallMs') / 1000]),
    );
  }
  const [[least, first], [most, last]] = [series[0].points[0], series[0].points.at(-1)];
  const text = `${digits(most / least)} times the events take safewrites ${digits(last / first)} times the time.`;
  return { text, plot: lines({ title: `${title}, ${plotted} ms a request`, x: 'events', y: 'seconds', series }) };
};

/** Throughput and tail with time added to each request, by real timers. */
export const throughput = async ({ rounds, scale }) => {
  const times = Math.min(rounds, 3);
  const size = Math.ceil(10_000 * scale);
  try {
    const charge = await bundledFunction(folder, 'charge');
    const ingest = await bundledFunction(folder, 'ingest');
    const charges = chargeTable(times, scale, charge);
    const few = growth('Ingest, 100 keys', times, size, ingestSides, (count) => ({
      job: 'ingest',
      keys: 100,
      batch: count,
      bundle: ingest,
    }));
    const many = growth('Ingest, each event a key', times, size, ingestSides, (count) => ({
      job: 'ingest',
      keys: count,
      batch: count,
      bundle: ingest,
    }));
    const relayed = growth('Relay, each event an aggregate', times, size, relaySides, (count) => ({
      job: 'relay',
      aggregates: count,
      batch: 100,
    }));
    const small = measured(ingestSides, times, {
      job: 'ingest',
      delayMs: 5,
      size,
      keys: 100,
      batch: 100,
      bundle: ingest,
    });
    const events = digits(size);
    const text = [
      `Each request to DynamoDB and to the bus takes 1, 5 or 20 ms more, by a real timer; at most 50 run at once, as with ` +
        "the sockets of the SDK's own client. The table is the embedded one, in a process of its own: its CPU is not in the " +
        'figures, its time is, and it has no limit of a partition. Each run is checked: every charge stored, every state ' +
        'the newest, every event published once and removed.',
      `Sizes: ${events} events, ${digits(Math.ceil(200 * scale))} charges one at a time and ` +
        `${digits(Math.ceil(2000 * scale))} otherwise (scale ${scale}, median of ${times}). **The machine was shared with ` +
        'other work**: seconds, and p99 above all, hold beside each other only.',
      `### Charges\n\n${markdown(charges.head, charges.rows)}\n\n![Charges](throughput-charge.svg)`,
      ...delays.map(
        (delayMs) =>
          `### Ingest of ${events} events in one batch, ${delayMs} ms a request\n\n${markdown(head, ingestTable(times, size, delayMs, ingest))}`,
      ),
      `### Ingest of ${events} events over 100 keys in batches of 100, 5 ms a request\n\n` +
        markdown(
          head,
          small.map((one) => [names[one.side], ...cells(one)]),
        ),
      `### How the ingest grows\n\nOver 100 keys, ${few.text} Each event a key, ${many.text}\n\n` +
        '![Ingest over 100 keys](throughput-ingest-few.svg)\n\n![Ingest, each event a key](throughput-ingest-many.svg)',
      ...delays.map(
        (delayMs) =>
          `### Relay of ${events} events in batches of 100, ${delayMs} ms a request\n\n${markdown(head, relayTable(times, size, delayMs))}`,
      ),
      'The peers of the relay send one PutEvents and one delete for each record of the stream. Powertools does so for all ' +
        'of a batch at once, without order; the sequential loop and safewrites keep the order of an aggregate. A read of ' +
        'the outbox is what safewrites asks more.',
      `### How the relay grows\n\n${relayed.text}\n\n![Relay](throughput-relay.svg)`,
    ].join('\n\n');
    const plots = {
      'throughput-charge.svg': charges.plot,
      'throughput-ingest-few.svg': few.plot,
      'throughput-ingest-many.svg': many.plot,
      'throughput-relay.svg': relayed.plot,
    };
    return { title: 'Throughput and tail', text, plots, taken: times };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
