import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { devNull } from 'node:os';
import { extname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { localAws } from './cloudformation.js';
import type { FunctionMessage, InvokeMessage } from './function-messages.js';
import { StartError } from './start-error.js';
import type { AppFunction } from './synthesized-app.js';

/** Why a call has no result. */
export type CallFailure = 'failed' | 'timed out' | 'crashed';

/** How a call of a function ended. */
export type CallResult = { readonly result: unknown } | { readonly failure: CallFailure };

/** What a function's process needs beside its template. */
export interface FunctionSurroundings {
  /** Where AWS's services are answered, by the part of the SDK's variable AWS_ENDPOINT_URL_… that names them. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** Takes each line that the function prints. */
  readonly print: (line: string) => void;
}

/** A process that has loaded the bundle, and who waits for its answers. */
interface RunningFunction {
  readonly child: ChildProcess;
  readonly waiting: Map<string, (result: CallResult) => void>;
}

/**
 * A function in a process of its own, with the template's environment and nothing of ours.
 *
 * Lambda gives each call in progress an environment of its own; here they share one process: a crash or a timeout ends
 * it with all its calls, and the next call starts another.
 */
export class FunctionProcess {
  readonly #function: AppFunction;
  readonly #surroundings: FunctionSurroundings;
  #running: Promise<RunningFunction> | undefined;

  constructor(fn: AppFunction, surroundings: FunctionSurroundings) {
    this.#function = fn;
    this.#surroundings = surroundings;
  }

  /** Starts the process; throws when the bundle cannot be loaded. */
  async start(): Promise<void> {
    await (this.#running ??= this.#launch());
  }

  /** Calls the handler. */
  async invoke(event: unknown, traceId: string): Promise<CallResult> {
    const started = (this.#running ??= this.#launch());
    const running = await started.catch(() => undefined);
    if (running === undefined) {
      this.#forget(started);
      return { failure: 'crashed' };
    }
    const { child, waiting } = running;
    const id = randomUUID();
    const timeout = this.#function.timeoutSeconds * 1000;
    const message: InvokeMessage = { id, event, traceId, deadline: Date.now() + timeout };
    return new Promise((resolve) => {
      const settle = (result: CallResult): void => {
        clearTimeout(timer);
        waiting.delete(id);
        resolve(result);
      };
      const timer = setTimeout(() => {
        settle({ failure: 'timed out' });
        this.#forget(started);
        child.kill('SIGKILL');
      }, timeout);
      waiting.set(id, settle);
      child.send(message, (error) => {
        if (error !== null) settle({ failure: 'crashed' });
      });
    });
  }

  /** Ends the process. */
  async close(): Promise<void> {
    const running = await this.#running?.catch(() => undefined);
    if (running === undefined || running.child.exitCode !== null || running.child.signalCode !== null) return;
    const ended = new Promise((resolve) => running.child.once('exit', resolve));
    running.child.kill('SIGKILL');
    await ended;
  }

  #forget(running: Promise<RunningFunction>): void {
    if (this.#running === running) this.#running = undefined;
  }

  #launch(): Promise<RunningFunction> {
    const { name, folder, handler, memorySize, environment } = this.#function;
    // The host lies beside this file, as source or as built.
    const host = join(import.meta.dirname, `function-host${extname(import.meta.filename)}`);
    const child = fork(host, [folder, handler], {
      execArgv: [],
      // Ctrl-C and the like reach the whole process group: away from it, calls in progress can end.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        PATH: process.env['PATH'],
        ...environment,
        TZ: ':UTC',
        AWS_REGION: localAws.region,
        AWS_DEFAULT_REGION: localAws.region,
        AWS_ACCESS_KEY_ID: 'local',
        AWS_SECRET_ACCESS_KEY: 'local',
        ...Object.fromEntries(
          Object.entries(this.#surroundings.endpoints).map(([service, url]) => [`AWS_ENDPOINT_URL_${service}`, url]),
        ),
        // The developer's own profiles must not reach the function.
        AWS_CONFIG_FILE: devNull,
        AWS_SHARED_CREDENTIALS_FILE: devNull,
        AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
        AWS_LAMBDA_FUNCTION_NAME: name,
        AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memorySize),
        AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
        AWS_LAMBDA_LOG_STREAM_NAME: 'local',
        LAMBDA_TASK_ROOT: folder,
        _HANDLER: handler,
      },
    });
    for (const stream of [child.stdout!, child.stderr!]) {
      createInterface({ input: stream }).on('line', this.#surroundings.print);
    }
    // By itself it ends when we do, unless its code never yields.
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    const waiting: RunningFunction['waiting'] = new Map();
    const running = new Promise<RunningFunction>((resolve, reject) => {
      const broken = (reason: string): void => {
        child.kill('SIGKILL');
        reject(
          new StartError(`The bundle of ${name} in ${folder} cannot be loaded (${reason}): mend it and start again.`),
        );
      };
      child.on('error', (error) => broken(error.message));
      child.on('exit', () => {
        process.off('exit', kill);
        broken('its process ended');
        this.#forget(running);
        for (const settle of [...waiting.values()]) settle({ failure: 'crashed' });
      });
      child.on('message', (message: FunctionMessage) => {
        if (message.type === 'ready') resolve({ child, waiting });
        else if (message.type === 'broken') broken(message.reason);
        else if (message.type === 'failed') waiting.get(message.id)?.({ failure: 'failed' });
        else waiting.get(message.id)?.({ result: JSON.parse(message.result) as unknown });
      });
    });
    return running;
  }
}
