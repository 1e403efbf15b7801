// One sample a process: what one run leaves behind (compiled code, a full heap, caches) must not help or hurt the next.
import { spawnSync } from 'node:child_process';

/** Runs a script with arguments in a process of its own; it prints one line of JSON. */
export const sample = (script, ...args) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    env: {
      ...process.env,
      AWS_REGION: 'eu-west-1',
      TABLE_NAME: 'bench',
      POWERTOOLS_SERVICE_NAME: 'bench',
      SAFEWRITES_EVENT_BUS_NAME: 'bench',
    },
  });
  // A bundle's one line may be all of the text: its end says what went wrong.
  if (status !== 0) throw new Error(`${script} ${args.join(' ')} failed: ${stderr.slice(-600)}`);
  return JSON.parse(stdout.trim().split('\n').at(-1));
};

/** Samples all sides in turn, round after round, so that a slow minute of the machine meets them all. */
export function interleaved(sides, rounds, take) {
  const samples = new Map(sides.map((side) => [side, []]));
  for (let round = 0; round < rounds; round++) for (const side of sides) samples.get(side).push(take(side));
  return samples;
}
