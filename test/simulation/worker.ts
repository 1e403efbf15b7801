// A process of `npm run simulate`: takes a piece of work, tells how it went, and takes the next one.
import { built } from './build.js';
import { findBug } from './find-bug.js';
import { mutations } from './mutations.js';

type Piece =
  { readonly mutation: string } | { readonly workload: string; readonly from: number; readonly count: number };

const kit = await built();

const work = async (piece: Piece): Promise<object> => {
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1000;
  if ('mutation' in piece) {
    const mutation = mutations.find(({ bug }) => bug === piece.mutation) as (typeof mutations)[0];
    const { seeds = 200, bug, workload } = mutation;
    const failure = await findBug(mutation);
    const runs = failure?.seed ?? seeds;
    const counts = { name: bug, workload, runs, operations: 0, rejected: 0, faults: 0, seconds: seconds() };
    return failure === undefined
      ? { ...counts, failure: `not found by ${seeds} seeds of ${workload}` }
      : { ...counts, found: failure.seed };
  }
  const { workload: name, from, count } = piece;
  const workload = kit.workloads.find((workload) => workload.name === name) as (typeof kit.workloads)[0];
  let runs = 0;
  try {
    const onRun = (): unknown => runs++;
    const seeds = { from, count };
    const report = await kit.simulate(workload.scenario, { ...workload.options, seeds, onRun });
    return { name, workload: name, ...report, seconds: seconds() };
  } catch (error) {
    const failure = (error as Error).message;
    return { name, workload: name, runs, operations: 0, rejected: 0, faults: 0, seconds: seconds(), failure };
  }
};

process.on('message', (piece: Piece) => {
  void work(piece).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.send?.({
  names: {
    workloads: kit.workloads.map(({ name }) => name),
    mutations: mutations.map(({ bug, workload }) => ({ bug, workload })),
  },
});
