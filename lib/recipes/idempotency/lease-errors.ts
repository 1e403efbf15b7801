import { SafeWritesError } from '../../commands/index.js';

/**
 * The lease of a call is over, or another call has taken it over: nothing was stored, and no further effect may begin.
 * Let it end the run: `idempotentLease` then answers what the record says, and throws it only where the lease ended by
 * its time alone.
 *
 * @example
 * await idempotentLease(shop, {
 *   scope: 'tenant-1',
 *   route: 'pay',
 *   key: 'request-1',
 *   fingerprint: fingerprintOf(1, ['500']),
 *   horizonSeconds: 86_400,
 *   leaseSeconds: 30,
 *   run: (lease) => {
 *     if (lease.signal.aborted) throw new LeaseLostError();
 *     return { body: 'paid' };
 *   },
 * });
 */
export class LeaseLostError extends SafeWritesError {
  static override get kind(): string {
    return 'LeaseLostError';
  }
  constructor() {
    super('The lease of the call is over, or another call has it: nothing was stored. The same call again is safe.');
  }
}

/**
 * Whether an earlier attempt did the effect is not known, and the provider can't tell two attempts from one: it was not
 * done again. Let it end the run: `idempotentLease` then answers `unknown`.
 *
 * @example
 * await idempotentLease(shop, {
 *   scope: 'tenant-1',
 *   route: 'pay',
 *   key: 'request-1',
 *   fingerprint: fingerprintOf(1, ['500']),
 *   horizonSeconds: 86_400,
 *   leaseSeconds: 30,
 *   async run(lease) {
 *     try {
 *       return { body: await lease.effect('pay', { keySeconds: 0 }, () => 'paid') };
 *     } catch (error) {
 *       if (error instanceof EffectUndecidedError) console.log('alert somebody');
 *       throw error;
 *     }
 *   },
 * });
 */
export class EffectUndecidedError extends SafeWritesError {
  static override get kind(): string {
    return 'EffectUndecidedError';
  }
  constructor() {
    super('An earlier attempt may have done the effect, so it was not done again. Decide by resolveUnknown().');
  }
}
