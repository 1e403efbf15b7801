import { createHash } from 'node:crypto';
import { serviceError } from '../engine/api-error.js';
import type { Clock } from '../engine/engine.js';
import { TOKENS } from '../engine/store.js';
import type { Store, StoreOp } from '../engine/store.js';

/** How long the token of a finished transaction answers its repeats. */
export const TOKEN_LIFE_MS = 10 * 60 * 1000;

interface FinishedToken {
  hash: string;
  expires: number;
}

/** Remembers the client request tokens: those in flight here, those of committed transactions in the store. */
export class RequestTokens {
  readonly #running = new Map<string, string>();

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  /**
   * Claims a token for a request. `replay` is true when the same request has been committed with it already; else
   * `finish` gives the change that remembers the commit, and `release` must be called when the request has ended.
   */
  claim(token: string, request: unknown): { replay: boolean; finish(): StoreOp[]; release(): void } {
    const hash = createHash('sha256').update(canonical(request)).digest('base64url').slice(0, 22);
    const running = this.#running.get(token);
    const finished = this.store.space<FinishedToken>(TOKENS).get(token);
    const known = running ?? (finished && finished.expires > this.clock() ? finished.hash : undefined);
    if (known !== undefined && known !== hash) {
      throw serviceError(
        'IdempotentParameterMismatchException',
        'DynamoDB rejected the request because you retried a request with a different payload but with an idempotent token that was already used.',
      );
    }
    if (running !== undefined) {
      throw serviceError(
        'TransactionInProgressException',
        'The transaction with the given request token is already in progress.',
      );
    }
    if (known !== undefined) return { replay: true, finish: () => [], release: () => undefined };
    this.#running.set(token, hash);
    return {
      replay: false,
      finish: () => [
        ...this.#expired(),
        { space: TOKENS, key: token, value: { hash, expires: this.clock() + TOKEN_LIFE_MS } },
      ],
      release: () => this.#running.delete(token),
    };
  }

  #sweepAt = 0;

  /** Forgets old tokens from time to time, so that their number stays bounded by ten minutes of transactions. */
  #expired(): StoreOp[] {
    const now = this.clock();
    if (now < this.#sweepAt) return [];
    this.#sweepAt = now + TOKEN_LIFE_MS / 10;
    const ops: StoreOp[] = [];
    for (const [key, token] of this.store.space<FinishedToken>(TOKENS).entries()) {
      if (token.expires <= now) ops.push({ space: TOKENS, key, value: undefined });
    }
    return ops;
  }
}

/** JSON text with object members in order: two spellings of one request look the same. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    member && typeof member === 'object' && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : member,
  );
}
