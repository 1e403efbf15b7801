import type { StepFailure } from '../../commands/index.js';
import { isTraceparent } from '../../recipes/index.js';
import { InboxRecord, inboxFormat, unhandled } from '../inbox/inbox-record.js';
import type { Message } from '../message/message.js';
import { UnitOfWork, type UnitOptions } from '../session/unit-of-work.js';
import type { Settled } from './options.js';

/** One run of a handler. */
export interface Run extends Pick<UnitOptions, 'attempt' | 'now' | 'signal' | 'load'> {
  readonly failed: Readonly<Record<string, StepFailure>>;
  readonly message: Pick<Message<unknown>, 'header'>;
  /** Of the inbox record. */
  readonly key: string;
  readonly delivery: string;
}

/** The session of a run, with the record that takes the message: the same for a handler and for its unit tests. */
export const unitOfMessage = (settings: Settled, { message, key, delivery, ...run }: Run): UnitOfWork => {
  const { table, consumer, horizonSeconds } = settings;
  const { now } = run;
  const expiresAt = new Date(now.getTime() + horizonSeconds * 1000);
  const record = { key, format: inboxFormat, consumer, delivery, expiresAt };
  const traceparent = message.header('traceparent');
  return new UnitOfWork({
    ...settings,
    ...run,
    traceparent: traceparent !== undefined && isTraceparent(traceparent) ? traceparent : undefined,
    inbox: table.of(InboxRecord).put(record).if(unhandled(now)).returnOldOnFailure(),
  });
};
