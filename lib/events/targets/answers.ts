import { isBetween, longestTimer } from '../../recipes/arguments.js';
import { invalid } from '../../commands/errors/errors.js';
import type { PublishAnswer, RelayedEvent } from '../../recipes/index.js';

/** Sends events in one request. @returns an answer for each, in their order */
export type SendBatch = (events: readonly RelayedEvent[]) => Promise<PublishAnswer[]>;

/** An answer for an event that was not accepted. */
export const notAccepted = (reason: string | undefined, retryable: boolean): PublishAnswer => ({
  ok: false,
  retryable,
  reason: reason ?? 'NoAnswer',
});

/** Errors of a whole request by which it is refused for what stands in it, not for who sends it, where to, or how often. */
const refusesContent = (error: unknown): boolean => {
  const { name = '', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  return (
    $metadata?.httpStatusCode === 413 ||
    /Validation|Invalid(Parameter|Message|Attribute|Batch)|ParameterValueInvalid|MissingParameter|TooLong|TooLarge|Serialization/.test(
      name,
    )
  );
};

/**
 * Sends a batch. An event that is too large is not sent: it failed for good. Where the request is refused for something in
 * it, each event goes alone, so that one that no request may hold is told from the others.
 *
 * @throws what the request threw where that says nothing about its events
 */
export const answersOf = async (
  events: readonly RelayedEvent[],
  isTooLarge: (event: RelayedEvent) => boolean,
  send: SendBatch,
): Promise<PublishAnswer[]> => {
  const answers = new Map<RelayedEvent, PublishAnswer>();
  for (const event of events) if (isTooLarge(event)) answers.set(event, notAccepted('TooLarge', false));
  const rest = events.filter((event) => !answers.has(event));
  try {
    const sent = rest.length === 0 ? [] : await send(rest);
    rest.forEach((event, i) => answers.set(event, sent[i] ?? notAccepted(undefined, true)));
  } catch (error) {
    if (!refusesContent(error)) throw error;
    const reason = (error as Error).name;
    for (const event of rest) answers.set(event, await alone(event, rest.length === 1 ? reason : undefined, send));
  }
  return events.map((event) => answers.get(event) as PublishAnswer);
};

/** An event by itself: refused already, or sent. It may be tried again, since a wrong target refuses every event. */
const alone = async (event: RelayedEvent, refused: string | undefined, send: SendBatch): Promise<PublishAnswer> => {
  if (refused !== undefined) return notAccepted(refused, true);
  try {
    const [answer] = await send([event]);
    return answer ?? notAccepted(undefined, true);
  } catch (error) {
    return notAccepted((error as Error).name, true);
  }
};

/** What every target takes. */
export interface RequestOptions {
  /**
   * Milliseconds that one request may take, the client's own retries included; after that it failed and may be sent again.
   * @default 5000
   */
  readonly timeoutMs?: number | undefined;
}

/** Refuses what is no time-out, and gives a signal for each request. */
export const timeouts = ({ timeoutMs = 5000 }: RequestOptions): (() => { abortSignal: AbortSignal }) => {
  if (!isBetween(timeoutMs, 1, longestTimer)) invalid('timeoutMs', 'expected milliseconds from 1 on');
  return () => ({ abortSignal: AbortSignal.timeout(timeoutMs) });
};

/** An answer of SNS or SQS for a batch, whose entries are named by their places. */
export interface BatchResult {
  readonly Successful?: readonly { readonly Id?: string | undefined }[] | undefined;
  readonly Failed?:
    | readonly {
        readonly Id?: string | undefined;
        readonly Code?: string | undefined;
        readonly SenderFault?: boolean | undefined;
      }[]
    | undefined;
}

/** Codes by which an entry is refused for what is in it. */
const isBadEntry = (code: string): boolean =>
  /Invalid(Parameter|Message|Attribute)|MissingParameter|TooLong/.test(code);

/** The answers in such a result; an entry that it does not name is sent again. */
export const answersIn = (count: number, { Successful = [], Failed = [] }: BatchResult): PublishAnswer[] => {
  const answers = Array.from({ length: count }, () => notAccepted(undefined, true));
  for (const { Id } of Successful) answers[Number(Id)] = { ok: true };
  for (const { Id, Code = '', SenderFault } of Failed)
    answers[Number(Id)] = notAccepted(Code, !(SenderFault === true && isBadEntry(Code)));
  return answers;
};
