import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** Instantiations above those of importing the library, for 20 entities with one get and one update each. */
const target = 15_000;
/** What they are kept to: a change that costs a tenth more is worth a look before the target is gone. */
const bound = 11_500;

const preamble = `
import {
  entity, instant, integer, list, map, oneOf, string, stringSet, version, type Table,
} from '${root}/lib/commands/index.js';
declare const shop: Table;
export const nothing = [entity, instant, integer, list, map, oneOf, string, stringSet, version, shop];
`;

/** Every other entity has a version. */
const entityOf = (n: number): string => `
const Entity${n} = entity('ENTITY_${n}', {
  pk: 'E${n}#{id}', sk: 'S${n}#{number:10}',
  attributes: {
    id: string(), number: integer(), total: integer(), status: oneOf('A${n}', 'B'), note: string().optional(),
    at: instant(), tags: stringSet().optional(), lines: list(map({ sku: string(), quantity: integer() })),
    shipTo: map({ city: string(), zip: string().optional() }).optional(),
    ${n % 2 === 0 ? '' : 'revision: version(),'}
  },
});
const table${n} = shop.of(Entity${n});
export const note${n} = (await table${n}.get({ id: 'a', number: ${n} }).item())?.note;
export const update${n} = await table${n}
  .update({ id: 'a', number: ${n} })
  .set(Entity${n}.attrs.total, ${n})
  .set({ note: 'x' })
  .if(Entity${n}.attrs.total.gt(${n}))
  ${n % 2 === 0 ? '' : '.ifVersion(1)'}
  .send();
`;

const instantiations = async (source: string): Promise<number> => {
  const directory = await mkdtemp(join(tmpdir(), 'safewrites-types-'));
  try {
    await writeFile(join(directory, 'index.ts'), source);
    await writeFile(join(directory, 'package.json'), '{"type":"module"}');
    const config = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { typeRoots: [join(root, 'node_modules/@types')], noUnusedLocals: false },
      include: [],
      files: ['index.ts'],
    };
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = await promisify(execFile)(process.execPath, [tsc, '--extendedDiagnostics', '-p', directory]);
    return Number(/Instantiations:\s+(\d+)/.exec(stdout)?.[1]);
  } finally {
    await rm(directory, { recursive: true });
  }
};

it('keeps the types of 20 entities cheap', { timeout: 180_000 }, async () => {
  const entities = Array.from({ length: 20 }, (_, n) => entityOf(n)).join('');
  const baseline = await instantiations(preamble);
  const cost = (await instantiations(preamble + entities)) - baseline;
  console.info(`${cost} type instantiations for 20 entities with one get and one update each (target ${target})`);
  expect(cost).toBeGreaterThan(1000);
  expect(cost).toBeLessThan(bound);
});
