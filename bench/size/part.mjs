import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bars } from '../lib/bars.mjs';
import { root } from '../lib/paths.mjs';
import { interleaved, sample } from '../lib/process.mjs';
import { digits, median, spread } from '../lib/statistics.mjs';
import { markdown } from '../lib/table.mjs';
import { bundled } from './bundle.mjs';

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
    },
  },
];
const bare = 'bare client';

/** CommonJS of a peer requires modules of Node, which an ES module has to be told. */
const runnable = (contents) => {
  const text = Buffer.from(contents).toString();
  if (!text.includes('Dynamic require of')) return text;
  return `import { createRequire as benchCreateRequire } from 'node:module';const require = benchCreateRequire(import.meta.url);${text}`;
};

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

/** Bundles by esbuild, and what loading them costs. */
export const size = async ({ rounds }) => {
  const folder = mkdtempSync(join(tmpdir(), 'safewrites-bench-'));
  const plots = {};
  try {
    const file = (name) => join(folder, `${name.replace(/\W+/g, '-')}.mjs`);
    const write = async (name, entry) => {
      const inside = await bundled(entry, 'bundled', file(name));
      writeFileSync(file(name), runnable(inside.contents));
      return inside;
    };
    await write(bare, own('client.mjs'));
    const sections = [];
    const contents = [];
    for (const [i, { title, entries }] of jobs.entries()) {
      const names = Object.keys(entries).filter((name) => existsSync(entries[name]));
      const bundles = new Map();
      for (const name of names) {
        bundles.set(name, [await bundled(entries[name], 'external', file(name)), await write(name, entries[name])]);
      }
      const samples = interleaved([bare, ...names], rounds, (name) => sample(own('init.mjs'), file(name)));
      for (const name of names.filter((each) => each.startsWith('safewrites'))) {
        const rows = contentsOf(bundles.get(name)[0]).map(([group, bytes]) => [group, digits(bytes)]);
        contents.push(
          `### What is in ${name === 'safewrites' ? 'one get and one update' : name}\n\n${markdown(['', 'bytes'], rows)}`,
        );
      }
      const base = samples.get(bare).map(({ cpu }) => cpu);
      const rows = names.map((name) => {
        const [outside, inside] = bundles.get(name);
        const extra = samples.get(name).map(({ cpu }, round) => cpu - base[round]);
        const [low, high] = spread(extra);
        return [
          name,
          ...[outside.bytes, outside.gzip, inside.bytes].map((bytes) => digits(bytes / 1000)),
          digits(median(extra)),
          `${digits(low)} to ${digits(high)}`,
        ];
      });
      plots[`size-${i}.svg`] = bars({
        title: `${title}: minified, the SDK outside`,
        unit: 'KB',
        rows: names.map((name) => {
          const value = bundles.get(name)[0].bytes / 1000;
          return { name, value, text: digits(value) };
        }),
      });
      const head = ['', 'KB', 'KB gzip', 'KB with the SDK', 'init CPU ms over the bare client', 'spread'];
      sections.push(`### ${title}\n\n${markdown(head, rows)}\n\n![${title}](size-${i}.svg)`);
    }
    const note =
      'Minified by esbuild, ES modules; a KB is 1000 bytes. The first two columns leave the SDK outside, as a function ' +
      'that takes it from the runtime or shares it. Init is the import of the bundle with the SDK inside, less that of ' +
      'the bare client alone.';
    return { title: 'Size and init', text: [note, ...sections, ...contents].join('\n\n'), plots };
  } finally {
    rmSync(folder, { recursive: true });
  }
};
