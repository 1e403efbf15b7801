import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { DynamoDBClient, ScanCommand, type AttributeValue } from '@aws-sdk/client-dynamodb';

/** A running `npm start`. */
export interface RunningStart {
  readonly url: string;
  /** What it has printed so far. */
  output(): string;
  /** All items of the app's table. */
  items(): Promise<Record<string, AttributeValue>[]>;
  /** Sends what Ctrl-C sends, and gives the exit code. */
  interrupt(signal?: NodeJS.Signals): Promise<number | null>;
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

const running = new Set<ChildProcess>();

function launch(args: string[], environment: Record<string, string>) {
  const child = spawn('npm', ['start', '--', ...args], {
    // A process group of its own, as a terminal makes: Ctrl-C goes to all of it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PORT: '0', ...environment },
  });
  running.add(child);
  let output = '';
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
      for (const check of waiting) check();
    });
  }
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code) => {
      running.delete(child);
      resolve({ code, output });
    });
  });
  const printed = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const check = (): void => {
        const found = pattern.exec(output);
        if (found === null) return;
        waiting.delete(check);
        resolve(found);
      };
      waiting.add(check);
      check();
      void ended.then(({ code }) => reject(new Error(`npm start ended with ${code}:\n${output}`)));
    });
  return { child, ended, printed, output: () => output };
}

/** Starts the app on a free port and waits until it listens. */
export async function npmStart(args: string[] = [], environment: Record<string, string> = {}): Promise<RunningStart> {
  const { child, ended, printed, output } = launch(args, environment);
  const [, url] = await printed(/Listening on (http:\/\/127\.0\.0\.1:\d+)/);
  const [, endpoint] = await printed(/DynamoDB on (http:\/\/127\.0\.0\.1:\d+)/);
  const [, table] = await printed(/DynamoDB on .*\n +(\S+)/);
  await printed(/Ctrl-C stops\./);
  return {
    url: url!,
    output,
    async items() {
      const client = new DynamoDBClient({
        endpoint: endpoint!,
        region: 'us-east-1',
        credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      });
      const { Items } = await client.send(new ScanCommand({ TableName: table!, ConsistentRead: true }));
      client.destroy();
      return Items ?? [];
    },
    async interrupt(signal = 'SIGINT') {
      process.kill(-child.pid!, signal);
      return (await ended).code;
    },
  };
}

/** Runs `npm start` where it is expected to refuse. */
export async function npmStartRefused(args: string[], environment: Record<string, string> = {}): Promise<Ended> {
  return launch(args, environment).ended;
}

/** Ends whatever a failed test has left running. */
export function killAll(): void {
  for (const child of running) process.kill(-child.pid!, 'SIGKILL');
}
