import { parseArgs } from 'node:util';
import { StartError } from './start-error.js';

/** What the command line and the environment say. */
export interface StartOptions {
  readonly port: number;
  /** Undefined keeps everything in memory. */
  readonly dataDir: string | undefined;
  readonly help: boolean;
}

/** Shown by `npm start -- --help`. */
export const usage = `Usage: npm start -- [--data-dir DIR]

Serves the synthesized app on http://127.0.0.1:3000.
  --data-dir DIR  keep the table's items in DIR; without it they are gone at the end
  PORT            environment variable: another port (0 takes a free one)`;

/** Reads `--data-dir` and `--help`, and PORT from the environment. */
export function startOptions(args: string[], environment: NodeJS.ProcessEnv): StartOptions {
  const { values } = parse(args);
  if (values['data-dir'] === '') throw new StartError('--data-dir needs a folder: npm start -- --data-dir data');
  return { port: port(environment['PORT']), dataDir: values['data-dir'], help: values.help ?? false };
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: { 'data-dir': { type: 'string' }, help: { type: 'boolean', short: 'h' } } });
  } catch (error) {
    throw new StartError(`${(error as Error).message.split('.')[0]}.\n\n${usage}`);
  }
}

function port(text: string | undefined): number {
  if (text === undefined || text === '') return 3000;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new StartError('PORT must be a number from 0 to 65535, for example: PORT=3001 npm start');
  }
  return Number(text);
}
