import { invalid } from '../errors/errors.js';

/** What every terminal takes. */
export interface SendOptions {
  /** Aborts the request; the write may still have taken effect (docs/retries.md). */
  readonly signal?: AbortSignal | undefined;
}

/** The options of `client.send`; none where there is no signal, which spares the SDK an object. */
export const httpOptions = (options: SendOptions | undefined): { abortSignal: AbortSignal } | undefined =>
  options?.signal && { abortSignal: checkSignal(options.signal) };

/** Refuses a signal that could not be listened to: work would go on after its end. */
export const checkSignal = <S extends AbortSignal | undefined>(signal: S): S =>
  signal === undefined || signal instanceof AbortSignal ? signal : invalid('signal', 'expected an AbortSignal');
