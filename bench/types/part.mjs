import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bench, root } from '../lib/paths.mjs';
import { digits, median } from '../lib/statistics.mjs';
import { markdown } from '../lib/table.mjs';
import { baseline, sources } from './sources.mjs';

const compilers = ['typescript', 'typescript-5.9'];
const counts = [20, 100];
// Inside this package, so that the libraries' declarations are found.
const folder = join(bench, 'results', '.types');

const config = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2024'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    types: [],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    paths: { safewrites: [join(root, 'dist/esm/commands/index.d.ts')] },
  },
  files: ['source.ts'],
};

const check = (compiler, source) => {
  writeFileSync(join(folder, 'source.ts'), source);
  const program = join(bench, 'node_modules', compiler, 'bin/tsc');
  const { stdout } = spawnSync(process.execPath, [program, '-p', folder, '--extendedDiagnostics'], {
    encoding: 'utf8',
  });
  const errors = [...stdout.matchAll(/error TS\d+: .*/g)].map(([text]) => text);
  const value = (name) => Number(new RegExp(`^${name}:\\s+([\\d.]+)`, 'm').exec(stdout)?.[1]);
  return { errors, instantiations: value('Instantiations'), seconds: value('Check time') };
};

/** What the compiler does for entities with one get and one update each. */
export const types = ({ rounds }) => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  const times = Math.min(rounds, 3);
  const summary = [];
  try {
    const sections = compilers.map((compiler) => {
      const { version } = JSON.parse(readFileSync(join(bench, 'node_modules', compiler, 'package.json'), 'utf8'));
      const rows = Object.keys(sources).map((library) => {
        const empty = check(compiler, baseline(library));
        const cells = counts.flatMap((count) => {
          const runs = Array.from({ length: times }, () => check(compiler, sources[library](count)));
          const [{ instantiations, errors }] = runs;
          if (errors.length > 0) throw new Error(`${library}, TypeScript ${version}: ${errors[0]}`);
          const seconds = median(runs.map((run) => run.seconds)) - empty.seconds;
          return [digits(instantiations - empty.instantiations), digits(Math.max(seconds, 0))];
        });
        if (compiler === compilers[0]) summary.push([library, cells[0], cells[2]]);
        return [library, ...cells];
      });
      const head = ['', ...counts.flatMap((count) => [`instantiations, ${count} entities`, `check s, ${count}`])];
      return `### TypeScript ${version}\n\n${markdown(head, rows)}`;
    });
    const note =
      'Entities of eight attributes, a list of maps and a map among them, each with one get and one conditional update. ' +
      'What importing the library costs is taken off. onetable takes its conditions as text, which is not checked.';
    const tables = { types: markdown(['', ...counts.map((count) => `${count} entities`)], summary) };
    return { title: 'Types', text: [note, ...sections].join('\n\n'), tables, taken: times };
  } finally {
    rmSync(folder, { recursive: true });
  }
};
