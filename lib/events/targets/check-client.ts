import { checkFunction } from '../../recipes/arguments.js';

/** Refuses what is no client of the SDK. */
export const checkClient = (client: { readonly send: unknown } | null | undefined): void =>
  void checkFunction(client?.send, 'client.send');
