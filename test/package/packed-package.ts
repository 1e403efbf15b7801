import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildPackage } from '../../scripts/build.mjs';

/** The part of a package's manifest that the tests read. */
export interface Manifest {
  readonly exports: Record<string, string | { import: string; require: string }>;
  readonly dependencies: Record<string, string>;
  readonly peerDependencies: Record<string, string>;
}

/** A packed package, and a project that has it installed. */
export interface PackedPackage {
  readonly tarball: string;
  readonly files: readonly string[];
  readonly manifest: Manifest;
  /** Where the tarball is unpacked. */
  readonly folder: string;
  /** Runs a file of this text in the importing project and gives what it prints, which is JSON. */
  run(file: string, text: string): unknown;
  /** The folder of the importing project. */
  readonly project: string;
}

/**
 * Builds and packs the package, and unpacks it in a project outside the checkout which has the dependencies that it
 * declares and no other, so that an undeclared one is not found.
 */
export async function packPackage(): Promise<PackedPackage> {
  await buildPackage();
  const project = mkdtempSync(join(tmpdir(), 'safewrites-package-'));
  const npm = (args: string[]) => execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  // The build has just run, so the scripts need not.
  const [packed] = JSON.parse(npm(['pack', '--json', '--ignore-scripts', '--pack-destination', project])) as {
    filename: string;
    files: { path: string }[];
  }[];
  const tarball = join(project, packed!.filename);
  const folder = join(project, 'node_modules/safewrites');
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1']);
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    const link = join(project, 'node_modules', name);
    if (existsSync(link)) continue;
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(process.cwd(), 'node_modules', name), link, 'junction');
  }
  return {
    tarball,
    files: packed!.files.map(({ path }) => path),
    manifest,
    folder,
    project,
    run(file, text) {
      writeFileSync(join(project, file), text);
      const env = { ...process.env, CDK_VALIDATION: 'false', NODE_OPTIONS: '' };
      return JSON.parse(execFileSync(process.execPath, [file], { cwd: project, encoding: 'utf8', env })) as unknown;
    },
  };
}
