import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bars } from '../lib/bars.mjs';
import { root } from '../lib/paths.mjs';
import { interleaved, sample } from '../lib/process.mjs';
import { digits, median, spread } from '../lib/statistics.mjs';
import { markdown } from '../lib/table.mjs';
import { bundled, shipped } from './bundle.mjs';

const own = (file) => join(import.meta.dirname, file);
const lambda = (name) => join(root, 'lambdas', name, 'index.ts');
const jobs = [
  {
    title: 'One get and one update',
    entries: {
      safewrites: own('get-update.mjs'),
      'document-client': own('get-update-document-client.mjs'),
      electrodb: own('get-update-electrodb.mjs'),
      'dynamodb-toolbox': own('get-update-dynamodb-toolbox.mjs'),
      'dynamodb-onetable': own('get-update-dynamodb-onetable.mjs'),
      dynamoose: own('get-update-dynamoose.mjs'),
    },
  },
  {
    title: 'The functions',
    entries: {
      'safewrites charge': lambda('charge'),
      'safewrites ingest': lambda('ingest'),
      'safewrites relay': lambda('relay'),
      'Powertools idempotency, logger, middy': own('powertools-idempotency.mjs'),
      'Powertools batch, logger': own('powertools-batch.mjs'),
      'Powertools kafka': own('powertools-kafka.mjs'),
      'Powertools batch, logger, a PutEvents a record': own('powertools-relay.mjs'),
    },
  },
];
const bare = 'bare client';

/** A file's part of the house, or its package. */
const groupOf = (input) => {
  const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input) ?? [];
  if (name !== undefined) return name;
  const [, part, folder] = /^(?:lib|dist\/esm)\/(\w+)\/([\w-]+)/.exec(input) ?? [];
  if (part === 'commands') return `commands/${folder}`;
  return part ?? 'the function itself';
};

/** What a bundle is made of, the largest first. */
const contentsOf = ({ inputs }) => {
  const groups = new Map();
  for (const [input, { bytesInOutput }] of Object.entries(inputs)) {
    const group = groupOf(input);
    groups.set(group, (groups.get(group) ?? 0) + bytesInOutput);
  }
  return [...groups].filter(([, bytes]) => bytes > 0).sort(([, a], [, b]) => b - a);
};

/** The parts of all bundles, the largest of the first one first. */
const inThem = (contents) => {
  const groups = new Set([...contents.values()].flatMap((of) => [...of.keys()]));
  const bytes = (of, group) => of.get(group) ?? 0;
  const [first, ...others] = contents.values();
  const order = (group) => [bytes(first, group), ...others.map((of) => bytes(of, group))];
  const sorted = [...groups].sort((a, b) => {
    const [left, right] = [order(a), order(b)];
    const at = left.findIndex((value, i) => value !== right[i]);
    return at < 0 ? 0 : right[at] - left[at];
  });
  const total = (of) => [...of.values()].reduce((sum, value) => sum + value, 0);
  const names = [...contents.keys()].map((name) => (name === 'safewrites' ? 'one get and one update' : name.slice(11)));
  return markdown(
    ['', ...names],
    [
      ...sorted.map((group) => [group, ...order(group).map((value) => (value > 0 ? digits(value) : ''))]),
      ['all', ...[...contents.values()].map((of) => digits(total(of)))],
    ],
  );
};

/** Bundles by esbuild, and what loading them costs. */
export const size = async ({ rounds }) => {
  const folder = mkdtempSync(join(tmpdir(), 'safewrites-bench-'));
  // An import takes little, and varies much.
  const times = rounds * 3;
  const plots = {};
  const [bundles, contents] = [new Map(), new Map()];
  const docs = [];
  try {
    const inside = new Map([[bare, await shipped(own('client.mjs'), join(folder, 'bare'))]]);
    for (const [name, entry] of jobs.flatMap(({ entries }) => Object.entries(entries))) {
      const named = join(folder, name.replaceAll(/\W+/g, '-'));
      bundles.set(name, await bundled(entry, `${named}.mjs`));
      inside.set(name, await shipped(entry, named));
    }
    for (const name of Object.keys(jobs[0].entries)) sample(own('check.mjs'), inside.get(name));
    const read = (file) => sample(own('read.mjs'), file).bytes;
    for (const name of ['charge', 'ingest', 'relay']) {
      const [here, there] = [inside.get(`safewrites ${name}`), join(root, 'dist/lambdas', name, 'index.mjs')].map(read);
      if (Math.abs(here / there - 1) > 0.02) throw new Error(`${name} reads ${here} bytes, and as shipped ${there}.`);
    }
    const sections = jobs.map(({ title, entries }, i) => {
      const names = Object.keys(entries);
      const samples = interleaved([bare, ...names], times, (name) => sample(own('init.mjs'), inside.get(name)));
      const over = (name, field) => samples.get(name).map((one, round) => one[field] - samples.get(bare)[round][field]);
      const rows = names.map((name) => {
        const { bytes, gzip } = bundles.get(name);
        const [low, high] = spread(over(name, 'cpu'));
        const [init, heap] = [median(over(name, 'cpu')), median(over(name, 'heapMB'))];
        docs.push([name, ...[bytes / 1000, gzip / 1000, init, heap].map(digits)]);
        return [
          name,
          ...[bytes / 1000, gzip / 1000, read(inside.get(name)) / 1000, init].map(digits),
          `${digits(low)} to ${digits(high)}`,
          digits(heap),
        ];
      });
      plots[`size-${i}.svg`] = bars({
        title: `${title}: minified, the SDK outside`,
        unit: 'KB',
        rows: names.map((name) => {
          const value = bundles.get(name).bytes / 1000;
          return { name, value, text: digits(value) };
        }),
      });
      const head = [
        '',
        'KB',
        'KB gzip',
        'KB read at a cold start, with the SDK',
        'init CPU ms over the bare client',
        'spread',
        'heap MB over the bare client',
      ];
      return `### ${title}\n\n${markdown(head, rows)}\n\n![${title}](size-${i}.svg)`;
    });
    const ours = [...bundles.keys()].filter((name) => name.startsWith('safewrites'));
    for (const name of ours) contents.set(name, new Map(contentsOf(bundles.get(name))));
    const note =
      'Minified by esbuild, ES modules; a KB is 1000 bytes. The first two columns leave the SDK outside, as a function ' +
      'that takes it from the runtime or shares it. What is loaded has the SDK inside and is in chunks, as the kit ships its ' +
      'functions, for all sides: a source of credentials or the client of a target is read when it is asked for. Init is ' +
      'the import of that, less that of the bare client alone; heap is what it holds after a collection, less the same. ' +
      'The relays load the client of EventBridge too. Each function of one get and one update is run on the embedded table ' +
      'first.';
    const bytes = `### What is in them\n\nBytes of the minified bundles with the SDK outside.\n\n${inThem(contents)}`;
    const head = ['', 'KB', 'KB gzip', 'init, CPU ms over the bare client', 'heap MB over the bare client'];
    return {
      title: 'Size and init',
      text: [note, ...sections, bytes].join('\n\n'),
      plots,
      taken: times,
      tables: { size: markdown(head, docs), 'size-contents': inThem(contents) },
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
};
