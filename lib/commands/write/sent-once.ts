import type { SendOptions } from '../send/send-options.js';

/** A command that can be awaited like a promise, and twice: it is sent once, and the outcome remembered. */
export abstract class SentOnce {
  // No initial value: a field of the base class would be paid for by every clause.
  declare private sent: Promise<unknown> | undefined;

  abstract send(options?: SendOptions): Promise<unknown>;

  then(
    onFulfilled?: ((value: never) => unknown) | null,
    onRejected?: ((reason: unknown) => unknown) | null,
  ): Promise<unknown> {
    this.sent ??= this.send();
    return this.sent.then(onFulfilled as never, onRejected);
  }

  catch(onRejected?: ((reason: unknown) => unknown) | null): Promise<unknown> {
    return this.then(null, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<unknown> {
    this.sent ??= this.send();
    return this.sent.finally(onFinally);
  }
}
