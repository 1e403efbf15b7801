import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { InvalidInputError } from '../../commands/index.js';
import { invalid } from '../../commands/errors/errors.js';
import type { Awaiting } from '../../commands/write/sent-once.js';
import { isStep } from '../../commands/write/step.js';
import type { UnitOfWork } from '../session/unit-of-work.js';

/** Follows what a handler starts, through everything that it awaits. */
const handling = new AsyncLocalStorage<true>();

const refuse = (asked: unknown): void => {
  if (handling.getStore() === undefined) return;
  (asked as Awaiting).refusal = new InvalidInputError(
    'handle',
    'awaits or returns a command, which sends it outside of the transaction: session.add(command); where that is meant, say send()',
  );
};

let subscribed = false;

/**
 * Runs a handler, and ends its session. A command is a promise, so an async function that returns one would have sent it,
 * outside of the transaction and at each delivery: while a handler runs, only a command's own `send()` sends it.
 */
export const runHandler = async (unit: UnitOfWork, handle: () => unknown): Promise<void> => {
  // Here and not at the import: an application without handlers pays nothing.
  if (!subscribed) subscribe('safewrites:await', refuse);
  subscribed = true;
  await handling.run(true, async () => {
    try {
      const returned = handle();
      if (isStep(returned)) invalid('handle', 'returns a command: add it to the session');
      await returned;
    } finally {
      unit.end();
    }
  });
};
