import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

it('ends quietly where nobody reads its output any more, as with `| head`', async () => {
  const args = ['scripts/simulate.mjs', '--seeds', '1', '--processes', '1', '--workload', 'formats'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  const said = text(child.stderr);
  const [code] = (await once(child, 'exit')) as [number | null];
  expect({ code, said: await said }).toEqual({ code: 0, said: '' });
}, 60_000);
