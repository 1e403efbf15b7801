import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { onTestFinished } from 'vitest';

const folder = fileURLToPath(new URL('.', import.meta.url));
const cache = fileURLToPath(new URL('../../../node_modules/.cache/safewrites-e2e', import.meta.url));

/** A process of its own, that is killed and begun again. */
export interface Restarted {
  begin(): void;
  /** Comes back when it has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Throws where it has ended by itself. */
  check(): void;
  readonly isRunning: boolean;
  /** Comes back when the running process has ended. */
  ended(): Promise<void>;
  send(message: object): void;
}

/** Bundles a file of this folder, so that it begins quickly; it gets the options as JSON, and tells by messages. */
export const restarted = async <M>(
  file: string,
  options: object,
  onMessage: (message: M) => void,
): Promise<Restarted> => {
  const outfile = join(cache, file.replace(/\.ts$/, '.mjs'));
  await build({
    ...{ entryPoints: [join(folder, file)], outfile, bundle: true, platform: 'node', format: 'esm' },
    ...{ packages: 'external', target: 'node22', logLevel: 'silent' },
  });
  let child: ChildProcess | undefined;
  let exited: Promise<void> = Promise.resolve();
  let errors = '';
  const restarting: Restarted = {
    begin() {
      const running = fork(outfile, [JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
      running.on('message', (message) => onMessage(message as M));
      running.stderr?.on('data', (chunk) => (errors += String(chunk)));
      exited = new Promise((resolve) => running.on('close', () => resolve()));
      child = running;
    },
    async end(signal) {
      child?.kill(signal);
      child = undefined;
      await exited;
    },
    get isRunning() {
      return child !== undefined;
    },
    ended: () => exited,
    // A process that is being killed takes no more.
    send: (message) => void child?.send(message, () => undefined),
    check() {
      if (child !== undefined && child.exitCode !== null) throw new Error(`${file} ended:\n${errors}`);
    },
  };
  onTestFinished(() => restarting.end('SIGKILL'));
  return restarting;
};
