// `npm run simulate`: the kit's workloads under faults, many seeds of each; see docs/reliability.md.
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { at, fail } from './project.mjs';

const usage = `npm run simulate -- [options]
  --seeds 1000        how many seeds of each workload
  --seed 17           this one alone
  --from 1            the first seed
  --workload charges  this one alone; may be given several times
  --mutations         plants the bugs of test/simulation/mutations.ts instead, and finds each; --workload takes its own
  --processes 2       how many at once`;

/** Reads the arguments; undefined where they only ask for help. */
function read() {
  const options = {
    seeds: { type: 'string' },
    seed: { type: 'string' },
    from: { type: 'string' },
    workload: { type: 'string', multiple: true },
    mutations: { type: 'boolean' },
    processes: { type: 'string' },
    help: { type: 'boolean' },
  };
  let values;
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    fail(`${error.message}\n${usage}`);
  }
  if (values.help) return undefined;
  const number = (name, fallback) => {
    const value = Number(values[name] ?? fallback);
    if (!Number.isSafeInteger(value) || value < 1) fail(`--${name} must be a whole number from 1 on.\n${usage}`);
    return value;
  };
  const from = number('seed', number('from', 1));
  return {
    from,
    count: values.seed === undefined ? number('seeds', 1000) : 1,
    workloads: values.workload,
    mutations: values.mutations === true,
    processes: number('processes', availableParallelism()),
  };
}

/** Seeds that one process is given at a time. */
const share = 250;

/** What there is to do, in pieces. */
function* pieces({ from, count, mutations }, names) {
  if (mutations) {
    for (const { bug, workload } of names.mutations) if (names.workloads.includes(workload)) yield { mutation: bug };
    return;
  }
  for (const workload of names.workloads) {
    for (let start = from; start < from + count; start += share) {
      yield { workload, from: start, count: Math.min(share, from + count - start) };
    }
  }
}

const terms = read();
if (terms === undefined) {
  process.stdout.write(`${usage}\n`);
} else {
  process.exitCode = (await run(terms)) ? 0 : 1;
}

async function run(terms) {
  const totals = new Map();
  const failed = new Set();
  let queue;
  const workers = Array.from({ length: terms.processes }, () =>
    fork(at('test/simulation/worker.ts'), { execArgv: ['--import', 'tsx'] }),
  );
  const ended = workers.map((worker) => new Promise((resolve) => worker.once('exit', (code) => resolve(code === 0))));
  // Who reads the output may stop, as `head` does.
  process.stdout.once('error', (error) => {
    for (const worker of workers) worker.kill();
    if (error.code !== 'EPIPE') throw error;
    process.exit(failed.size > 0 ? 1 : 0);
  });
  const started = performance.now();
  for (const worker of workers) {
    worker.on('message', (message) => {
      if (message.names !== undefined) queue ??= [...pieces(terms, chosen(message.names, terms))];
      else take(message, totals, failed);
      // After a failure a workload has nothing more to tell.
      const next = queue.findIndex(({ workload }) => !failed.has(workload));
      if (next < 0) worker.disconnect();
      else worker.send(queue.splice(next, 1)[0]);
    });
  }
  const went = (await Promise.all(ended)).every(Boolean);
  for (const [name, { runs, operations, rejected, faults, seconds }] of totals) {
    const rate = `${Math.round(runs / seconds)}/s a process`;
    process.stdout.write(
      `${name.padEnd(10)}${runs} runs, ${operations} operations (${rejected} ended with an error), ${faults} faults, ${rate}\n`,
    );
  }
  const all = [...totals.values()].reduce((sum, { runs }) => sum + runs, 0);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  process.stdout.write(`${all} runs in ${seconds} s${failed.size > 0 ? `, ${failed.size} failed` : ''}\n`);
  return went && failed.size === 0;
}

function chosen(names, { workloads }) {
  const unknown = workloads?.find((name) => !names.workloads.includes(name));
  if (unknown !== undefined) fail(`There is no workload ${unknown}: choose ${names.workloads.join(', ')}.`);
  return workloads === undefined ? names : { ...names, workloads };
}

function take({ name, found, failure, ...counts }, totals, failed) {
  if (failure !== undefined) {
    failed.add(name);
    process.stdout.write(`\n${name}: ${failure}\n\n`);
  }
  if (found !== undefined) process.stdout.write(`found by seed ${found}: ${name}\n`);
  const total = totals.get(counts.workload) ?? { runs: 0, operations: 0, rejected: 0, faults: 0, seconds: 0 };
  for (const key of Object.keys(total)) total[key] += counts[key];
  totals.set(counts.workload, total);
}
