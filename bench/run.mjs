// Measures all parts, or those named: `npm run bench -- library size`. Writes results/<part>.json, plots beside it, and
// results.md and the tables of docs/ from all of them, so that a part may be measured again alone. `--rounds=3` for a quick look, `--scale=0.1` for a
// tenth of the events and calls.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { cost } from './cost/part.mjs';
import { endurance } from './endurance/part.mjs';
import { fillDocs } from './lib/docs.mjs';
import { bench, versions } from './lib/paths.mjs';
import { library } from './library/part.mjs';
import { size } from './size/part.mjs';
import { throughput } from './throughput/part.mjs';
import { types } from './types/part.mjs';

const parts = { library, size, types, cost, throughput, endurance };
const named = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const rounds = Number(/--rounds=(\d+)/.exec(process.argv.join(' '))?.[1] ?? 7);
const scale = Number(/--scale=([\d.]+)/.exec(process.argv.join(' '))?.[1] ?? 1);
if (!(scale > 0 && Number.isFinite(scale))) throw new Error('--scale takes a number over 0.');
const unknown = named.find((name) => !Object.hasOwn(parts, name));
if (unknown !== undefined)
  throw new Error(`There is no part ${unknown}: take some of ${Object.keys(parts).join(', ')}.`);

/** Processes that ran, or waited for a processor, in the last minute, on average: near 0 on a quiet machine. */
const load = () => Number(loadavg()[0].toFixed(2));

const folder = join(bench, 'results');
mkdirSync(folder, { recursive: true });
for (const name of named.length > 0 ? named : Object.keys(parts)) {
  console.log(`measuring: ${name}`);
  const [before, started] = [load(), performance.now()];
  const { plots = {}, taken = rounds, ...result } = await parts[name]({ rounds, scale });
  const minutes = Number(((performance.now() - started) / 60_000).toFixed(1));
  const measured = {
    ...result,
    rounds: taken,
    at: new Date().toISOString().slice(0, 10),
    minutes,
    load: { before, after: load(), processors: availableParallelism() },
    versions: versions(),
  };
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(measured, undefined, 2)}\n`);
  for (const [file, svg] of Object.entries(plots)) writeFileSync(join(folder, file), svg);
  console.log(`measured: ${name}, ${minutes} minutes`);
}

const sections = Object.keys(parts).flatMap((name) => {
  const file = join(folder, `${name}.json`);
  if (!existsSync(file)) return [];
  const {
    title,
    text,
    rounds: times,
    at,
    minutes,
    load: loads,
    versions: used,
  } = JSON.parse(readFileSync(file, 'utf8'));
  const median = times > 0 ? `; median of ${times} round${times === 1 ? '' : 's'} where times are given` : '';
  const foot =
    `Measured on ${at} with Node ${used.node}${median}. It took ${minutes} minutes; the load average of a minute was ` +
    `${loads.before} before and ${loads.after} after it, on ${loads.processors} processors.`;
  return [`## ${title}\n\n${text.replaceAll(/\]\((?=[a-z]+-[a-z\d-]+\.svg)/g, '](results/')}\n\n${foot}`];
});
const pinned = Object.entries(versions())
  .filter(([name]) => name !== 'node')
  .map(([name, version]) => `${name} ${version}`);
writeFileSync(
  join(bench, 'results.md'),
  `# What it costs, beside its peers

Written by \`npm run bench\`. Every sample of time is a process of its own, and the sides take turns. CPU time is what a
process used, whatever else the machine did; ratios are of samples of one round. ${cpus()[0].model.trim()}.

Versions: ${pinned.join(', ')}.

${sections.join('\n\n')}
`,
);

await fillDocs();
