import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { callerStack } from './caller-stack.js';

/** A command that was built and never sent, rendered or given to a transaction or batch. */
export interface UnsentCommand {
  /** What it is, such as `update of ACCOUNT`. */
  readonly what: string;
  /** Where it was built: the caller's frames first. */
  readonly stack: string;
}

/** Watches the commands of the process, see {@link watchCommands}. */
export interface CommandWatch {
  /** What was built since the watch began and is not used yet, in that order. */
  unsent(): readonly UnsentCommand[];
  /**
   * Throws where there is any; then it starts over.
   * @throws Error with each command and where it was built
   */
  assertNoneUnsent(): void;
  /** Ends the watch; what it saw stays. */
  stop(): void;
}

/** What the command library publishes; by name, since a test kit loads none of it. */
const channelName = 'safewrites:life';
interface CommandLife {
  readonly command: object;
  readonly event: 'created' | 'used';
  readonly from?: object | undefined;
  readonly what?: string;
}

/**
 * Reports commands that nobody sends, which no linter sees: a read without its terminal, a versioned write without its
 * decision, a write that is dropped. A command that a clause was called on counts as used, and the one that the clause
 * gave is watched instead. Sees all copies of the command library in the process. For tests: it keeps the commands, and
 * takes a stack for each.
 *
 * @example
 * import { afterAll, afterEach } from 'vitest';
 * const watch = watchCommands();
 * afterEach(() => watch.assertNoneUnsent());
 * afterAll(() => watch.stop());
 */
export function watchCommands(): CommandWatch {
  const open = new Map<object, UnsentCommand>();
  const listen = (message: unknown): void => {
    const { command, event, from, what = 'command' } = message as CommandLife;
    if (event === 'used') open.delete(command);
    else {
      if (from !== undefined) open.delete(from);
      open.set(command, { what, stack: callerStack(listen) });
    }
  };
  subscribe(channelName, listen);
  return {
    unsent: () => [...open.values()],
    assertNoneUnsent() {
      const left = [...open.values()];
      open.clear();
      if (left.length === 0) return;
      const list = left.map(({ what, stack }) => `- ${what}\n${stack}`).join('\n');
      throw new Error(
        `${left.length === 1 ? 'A command was' : `${left.length} commands were`} built and never sent:\n${list}`,
      );
    },
    stop: () => void unsubscribe(channelName, listen),
  };
}
