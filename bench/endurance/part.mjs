import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundledFunction } from '../lib/functions.mjs';
import { lines } from '../lib/lines.mjs';
import { bench } from '../lib/paths.mjs';
import { sample } from '../lib/process.mjs';
import { digits, median, slope } from '../lib/statistics.mjs';
import { markdown } from '../lib/table.mjs';

const folder = join(bench, 'results', '.endurance');
const script = join(import.meta.dirname, 'sample.mjs');
const titles = { charge: 'the charge endpoint', ingest: 'the ingest', relay: 'the relay' };

const sum = (windows, field) => windows.reduce((total, one) => total + one[field], 0);
const ratio = ({ kit, bare }, field) => median(kit.map((one, i) => one[field] / bare[i][field]));

/** Medians of the second and of the last quarter of the windows: the first one warms up. */
const quarters = (windows, field) => {
  const quarter = Math.max(1, Math.floor(windows.length / 4));
  const of = (from) => median(windows.slice(from, from + quarter).map((one) => one[field]));
  return [of(quarter), of(windows.length - quarter)];
};

const change = (windows, field) => {
  const [early, late] = quarters(windows, field);
  return `${digits(early)} → ${digits(late)}`;
};

/** By how many percent a figure rises from one window to the next, in the second half: a process warms up in the first. */
const rising = (windows, field) => {
  const { rise, error, mean } = slope(windows.slice(Math.floor(windows.length / 2)).map((one) => one[field]));
  const percent = (value) => ((100 * value) / mean).toFixed(2);
  return `${rise > 0 ? '+' : ''}${percent(rise)} ± ${percent(error)}`;
};

/** What docs/reliability.md shows of it. */
const summary = (taken) => {
  const all = Object.values(taken);
  const a = (phase, side, field) =>
    all.map((one) => digits(sum(one[phase][side], 'requests') / sum(one[phase][side], field)));
  const most = ({ steady, half, outage }) =>
    Math.max(...[...steady.kit, ...half.kit, ...outage.kit].map((one) => one.mostInFlight));
  const heaps = ({ steady, half, outage, after }) =>
    [steady, half, outage, after].map(({ kit }) => digits(kit.at(-1).heapMB)).join(', ');
  return markdown(
    ['', 'charge endpoint', 'ingest', 'relay'],
    [
      ['p50 against the bare client', ...all.map(({ steady }) => digits(ratio(steady, 'p50')))],
      ['CPU against the bare client', ...all.map(({ steady }) => digits(ratio(steady, 'cpuMs')))],
      ['p50 from a window to the next, %', ...all.map(({ steady }) => rising(steady.kit, 'p50'))],
      ['heap from a window to the next, %', ...all.map(({ steady }) => rising(steady.kit, 'heapMB'))],
      ['heap in MB: steady, half throttled, all throttled, afterwards', ...all.map(heaps)],
      ['requests a success', ...a('steady', 'kit', 'done')],
      ['half of the requests throttled: requests a success', ...a('half', 'kit', 'done')],
      ['the bare client then', ...a('half', 'bare', 'done')],
      ['most requests at once, throttled or not', ...all.map((one) => String(most(one)))],
    ],
  );
};

/** Sustained load, then a table that throttles, then load again. */
export const endurance = async ({ scale }) => {
  const windows = Math.max(8, Math.ceil(16 * scale));
  const size = Math.ceil(1500 * scale);
  // What is throttled waits for most of its time.
  const throttledSize = Math.min(100, size);
  const plots = {};
  const [steady, slopes, throttled, outage, recovered] = [[], [], [], [], []];
  const each = Array.from({ length: windows }, (_, i) => [String(i + 1)]);
  const page = {};
  try {
    for (const job of Object.keys(titles)) {
      const bundle = job === 'relay' ? undefined : await bundledFunction(folder, job);
      const taken = sample(script, JSON.stringify({ job, windows, size, throttledSize, bundle }));
      steady.push([
        titles[job],
        change(taken.steady.kit, 'heapMB'),
        change(taken.steady.kit, 'p50'),
        change(taken.steady.kit, 'p99'),
        digits(ratio(taken.steady, 'p50')),
        digits(ratio(taken.steady, 'p99')),
        digits(ratio(taken.steady, 'cpuMs')),
      ]);
      slopes.push([titles[job], ...['heapMB', 'p50', 'p99'].map((field) => rising(taken.steady.kit, field))]);
      taken.steady.kit.forEach((one, i) =>
        each[i].push(...['p50', 'p99', 'heapMB'].map((field) => digits(one[field]))),
      );
      page[job] = taken;
      for (const [side, name] of [
        ['kit', titles[job]],
        ['bare', `the bare client, as ${titles[job]}`],
      ]) {
        const [half, steadyOnes, down] = [taken.half[side], taken.steady[side], taken.outage[side]];
        throttled.push([
          name,
          digits(sum(steadyOnes, 'requests') / sum(steadyOnes, 'done')),
          digits(sum(half, 'requests') / sum(half, 'done')),
          `${digits(sum(half, 'done'))} of ${digits(throttledSize * half.length)}`,
          digits(Math.max(...steadyOnes.map((one) => one.mostInFlight))),
          digits(Math.max(...half.map((one) => one.mostInFlight))),
        ]);
        outage.push([
          name,
          digits(sum(down, 'requests') / throttledSize),
          digits(Math.max(...down.map((one) => one.mostInFlight))),
        ]);
      }
      const last = (list) => list.at(-1).heapMB;
      recovered.push([
        titles[job],
        digits(last(taken.steady.kit)),
        digits(last(taken.half.kit)),
        digits(last(taken.outage.kit)),
        digits(last(taken.after.kit)),
        digits(median(taken.after.kit.map(({ p50 }) => p50)) / quarters(taken.steady.kit, 'p50')[1]),
      ]);
      const points = (side, field) => taken.steady[side].map((one, i) => [i + 1, one[field]]);
      plots[`endurance-${job}.svg`] = lines({
        title: `Latency of ${titles[job]}`,
        x: `window, of ${digits(size)} each`,
        y: job === 'charge' ? 'ms a call' : 'ms a record',
        series: [
          { name: 'safewrites, p50', points: points('kit', 'p50') },
          { name: 'safewrites, p99', points: points('kit', 'p99') },
          { name: 'bare client, p50', points: points('bare', 'p50') },
          { name: 'bare client, p99', points: points('bare', 'p99') },
        ],
      });
      plots[`endurance-${job}-heap.svg`] = lines({
        title: `Heap after collection, ${titles[job]}`,
        x: `window, of ${digits(size)} each`,
        y: 'heap in MB',
        series: [{ name: 'safewrites', points: points('kit', 'heapMB') }],
      });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const text = [
    `${windows} windows of ${digits(size)} charges, events and published events (scale ${scale}), safewrites and the bare ` +
      'client in turns on one table, which is in a process of its own. Charges are 10 at a time, and the bare client sends ' +
      'the transaction without the record of the answer. The ingest takes batches of 50 events of 50 keys, the bare client ' +
      '25 conditional updates at a time. The relay takes batches of 100 events of as many aggregates, the bare client 50 at a ' +
      'time, one PutEvents and one delete each, without reading. Latencies of batches are per record.',
    '### Until it is flat\n\nFrom the second quarter of the windows to the last one; ratios are medians over all windows.\n\n' +
      markdown(
        ['', 'heap MB after gc', 'p50 ms', 'p99 ms', 'p50 against bare', 'p99 against bare', 'CPU against bare'],
        steady,
      ),
    'How much each figure rises from a window to the next, in percent, over the second half of the windows: the slope by ' +
      'least squares and its standard error. Flat is a slope within twice its error.\n\n' +
      markdown(['', 'heap after gc', 'p50', 'p99'], slopes),
    '### Window by window\n\n' +
      markdown(
        ['window', ...Object.values(titles).flatMap((title) => [`${title}: p50 ms`, 'p99 ms', 'heap MB'])],
        each,
      ),
    ...Object.keys(titles).map(
      (job) =>
        `![Latency of ${titles[job]}](endurance-${job}.svg)\n\n![Heap of ${titles[job]}](endurance-${job}-heap.svg)`,
    ),
    `### A table that throttles half of its requests\n\nTwo windows of ${throttledSize}. ` +
      'The client makes 3 attempts, as that of the functions. What failed is ' +
      'called or delivered again, up to 20 times, as its source would. Requests are those that came to DynamoDB, throttled ones ' +
      'included.\n\n' +
      markdown(
        ['', 'requests a success, before', 'throttled', 'done', 'most requests at once, before', 'throttled'],
        throttled,
      ),
    `### A table that throttles all requests\n\nOne window of ${throttledSize}, each call or record once.\n\n${markdown(['', 'requests a call or record', 'most at once'], outage)}`,
    '### Afterwards\n\nHeap in MB after a collection at the end of each phase, and the latency once nothing is throttled ' +
      `any more.\n\n${markdown(['', 'steady', 'half throttled', 'all throttled', 'afterwards', 'p50 against before'], recovered)}`,
  ].join('\n\n');
  return { title: 'Endurance', text, plots, tables: { endurance: summary(page) }, taken: 1 };
};
