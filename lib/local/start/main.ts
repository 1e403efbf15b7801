import { setTimeout as wait } from 'node:timers/promises';
import { announcement } from './announcement.js';
import { startLocalApp } from './local-app.js';
import { startOptions, usage } from './options.js';
import { StartError } from './start-error.js';

/** How long a start that is told to stop may take to close what it has opened. */
const patienceMs = 2000;

/** How long after an error a signal may still have to do with it. */
const signalMs = 50;

/**
 * `npm start`: serves the app until it is told to stop.
 *
 * @param assembly - builds and synthesizes the app, and gives the folder
 * @returns the exit code
 */
export async function main(args: string[], assembly: () => Promise<string>): Promise<number> {
  const stopped = stopSignal();
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  let listening = false;
  try {
    const { help, ...options } = startOptions(args, process.env);
    if (help) {
      print(usage);
      return 0;
    }
    const starting = startLocalApp({ ...options, assembly, print });
    const app = await Promise.race([starting, stopped]);
    if (app === undefined) {
      await Promise.race([starting.then((started) => started.close()).catch(() => undefined), wait(patienceMs)]);
      print('Stopped.');
      return 0;
    }
    listening = true;
    print(announcement(app, options.dataDir));
    await stopped;
    await app.close();
    print('Stopped.');
    return 0;
  } catch (error) {
    // Ctrl-C reaches what builds the app too, whose end may be heard of before the signal is.
    if (!listening && (await Promise.race([stopped.then(() => true), wait(signalMs, false)]))) {
      print('Stopped.');
      return 0;
    }
    process.stderr.write(`${error instanceof StartError ? error.message : (error as Error).stack}\n`);
    return 1;
  }
}

/** Resolves at the first Ctrl-C or SIGTERM; another one a second later ends the process at once. */
function stopSignal(): Promise<undefined> {
  return new Promise((resolve) => {
    let asked: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        asked ??= performance.now();
        resolve(undefined);
        // npm passes Ctrl-C on to a process that the terminal has told already.
        if (performance.now() - asked > 1000) process.exit(130);
      });
    }
  });
}
