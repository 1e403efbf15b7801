import { channel } from 'node:diagnostics_channel';
import { Command } from '../send/command.js';
import type { SendOptions } from '../send/send-options.js';

/** What is asked before a command is sent by being awaited; a subscriber may say why it must not be. */
export interface Awaiting {
  refusal?: Error;
}

/** The channel of {@link Awaiting}: found by name, so that a message handler of any copy keeps the commands of all. */
export const awaitChannel = channel('safewrites:await');

/** A command that can be awaited like a promise, and twice: it is sent once, and the outcome remembered. */
export abstract class SentOnce extends Command {
  declare private sent_: Promise<unknown> | undefined;

  abstract send(options?: SendOptions): Promise<unknown>;

  private awaited_(): Promise<unknown> {
    if (!this.sent_ && awaitChannel.hasSubscribers) {
      const asked: Awaiting = {};
      awaitChannel.publish(asked);
      if (asked.refusal) return Promise.reject(asked.refusal);
    }
    return (this.sent_ ??= this.send());
  }

  then(
    onFulfilled?: ((value: never) => unknown) | null,
    onRejected?: ((reason: unknown) => unknown) | null,
  ): Promise<unknown> {
    return this.awaited_().then(onFulfilled as never, onRejected);
  }

  catch(onRejected?: ((reason: unknown) => unknown) | null): Promise<unknown> {
    return this.then(null, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<unknown> {
    return this.awaited_().finally(onFinally);
  }
}
