/** What every terminal takes. */
export interface SendOptions {
  /** Aborts the request; the write may still have taken effect (docs/retries.md). */
  readonly signal?: AbortSignal | undefined;
}

/** The options of `client.send`; none where there is no signal, which spares the SDK an object. */
export const httpOptions = (options: SendOptions | undefined): { abortSignal: AbortSignal } | undefined =>
  options?.signal && { abortSignal: options.signal };
