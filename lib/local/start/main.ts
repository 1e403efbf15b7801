import { announcement } from './announcement.js';
import { startLocalApp } from './local-app.js';
import { startOptions, usage } from './options.js';
import { StartError } from './start-error.js';

/**
 * `npm start`: serves the app until it is told to stop.
 *
 * @param assembly - builds and synthesizes the app, and gives the folder
 * @returns the exit code
 */
export async function main(args: string[], assembly: () => Promise<string>): Promise<number> {
  const stopped = stopSignal();
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  try {
    const { port, dataDir, help } = startOptions(args, process.env);
    if (help) {
      print(usage);
      return 0;
    }
    const app = await startLocalApp({ port, dataDir, assembly, print });
    print(announcement(app, dataDir));
    await stopped;
    await app.close();
    print('Stopped.');
    return 0;
  } catch (error) {
    process.stderr.write(`${error instanceof StartError ? error.message : (error as Error).stack}\n`);
    return 1;
  }
}

/** Resolves at the first Ctrl-C or SIGTERM; another one a second later ends the process at once. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        asked ??= performance.now();
        resolve();
        // npm passes Ctrl-C on to a process that the terminal has told already.
        if (performance.now() - asked > 1000) process.exit(130);
      });
    }
  });
}
