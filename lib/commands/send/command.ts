import { CommandUsedError } from '../errors/errors.js';
import { checkAttempts } from '../retry/max-attempts.js';
import { lifeChannel } from '../tracing/channel.js';
import { requestJson } from '../write/request-json.js';

/** What the clauses of every command say; replaced, never changed, so that forks share it. */
export interface CommandOptions {
  readonly attempts_?: number;
}

/** What every command is: a chain of values that is used once, told to test kits, and shown instead of sent. */
export abstract class Command {
  // No initial value: a field of the base class would be paid for by every clause.
  declare private used_: boolean | undefined;

  /** What errors and test kits call it. */
  protected abstract readonly what_: string;
  /** The chain with another option. */
  protected abstract with_(change: CommandOptions): this;
  abstract toRequest(): object;

  /** To be told once it is made: of which entity it is, where it is of one, and which command the clause was called on. */
  protected made_(of: string | undefined, from: Command | undefined): void {
    if (!lifeChannel.hasSubscribers) return;
    const what = of === undefined ? this.what_ : `${this.what_} of ${of}`;
    lifeChannel.publish({ command: this, event: 'created', from, what });
  }

  /** Refuses a chain whose command is used up: it says something that can no longer be sent. */
  protected refuseUsed_(): void {
    if (this.used_) throw new CommandUsedError(this.what_);
  }

  /** Uses it up. */
  protected end_(): void {
    this.used_ = true;
    if (lifeChannel.hasSubscribers) lifeChannel.publish({ command: this, event: 'used' });
  }

  maxAttempts(attempts: number): this {
    return this.with_({ attempts_: checkAttempts(attempts) });
  }

  toRequestJson(): string {
    return requestJson(this.toRequest());
  }
}
