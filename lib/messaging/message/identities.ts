import { isFilledText } from '../../commands/attributes/text.js';
import { invalid } from '../../commands/errors/errors.js';
import { checkFunction, checkObject } from '../../recipes/arguments.js';
import { messageId, type IdentityOf, type MessageId, type Received } from './message.js';

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

const required = (value: unknown, where: string): MessageId => {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return messageId(String(value));
  return isFilledText(value)
    ? messageId(value)
    : invalid('messageId', `the message has no ${where} that is text or a whole number`);
};

/** Refuses what is none of what sources hand over. */
const checkReceived = <B>(received: Received<B>): Received<B> => {
  checkFunction(
    checkObject(received, 'received', 'expected a message as its source reads it').header,
    'received.header',
  );
  return received;
};

const checkNames = (names: readonly unknown[]): void => {
  if (names.length === 0 || !names.every((name) => isFilledText(name)))
    invalid('messageId', 'expected the name of where it stands');
};

/**
 * Identity from a member of the body, text or a whole number: the id of an event that an outbox published, an order's.
 *
 * @param path names, from the outside in
 * @throws InvalidInputError, at a message, where it has none
 * @example const from = fromSqs({ id: bodyPath('detail', 'id') });
 */
export const bodyPath = (...path: readonly [string, ...string[]]): IdentityOf<unknown> => {
  checkNames(path);
  return (received) =>
    required(path.reduce(member, checkReceived(received).body), `member ${path.join('.')} in its body`);
};

/**
 * Identity from a header that the producer sets, such as `message-id`: a message attribute in SQS, a record header in
 * Kafka.
 *
 * @throws InvalidInputError, at a message, where it has none
 * @example const from = fromKafka({ id: headerId('message-id') });
 */
export const headerId = (name: string): IdentityOf<unknown> => {
  checkNames([name]);
  return (received) => required(checkReceived(received).header(name), `header ${name}`);
};

/**
 * Identity of an EventBridge event, directly or as the body of an SQS message: its `id`. It survives a redrive and a
 * second delivery. A producer that calls PutEvents twice gets two ids, and a relay of an outbox does that after a lost
 * response: for its events take their own id, by {@link bodyPath}.
 *
 * @throws InvalidInputError, at a message, that is no EventBridge event
 * @example const from = fromSqs({ id: eventBridgeId });
 */
export const eventBridgeId = (received: Received<unknown>): MessageId => {
  const { body } = checkReceived(received);
  return member(body, 'detail-type') === undefined
    ? invalid('messageId', 'the message is no EventBridge event: it has no detail-type')
    : required(member(body, 'id'), 'id');
};

/**
 * Identity of a CloudEvent: its source and id together, from the body (structured mode) or from headers (binary mode,
 * `ce-` or in Kafka `ce_`) (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md#id).
 *
 * @throws InvalidInputError, at a message, that is no CloudEvent
 * @example const from = fromKafka({ id: cloudEventsId });
 */
export const cloudEventsId = (received: Received<unknown>): MessageId => {
  checkReceived(received);
  const attribute = (name: string): unknown =>
    received.header(`ce_${name}`) ?? received.header(`ce-${name}`) ?? member(received.body, name);
  if (attribute('specversion') === undefined)
    invalid('messageId', 'the message is no CloudEvent: it has no specversion');
  const source = required(attribute('source'), 'source');
  // As JSON, so that no two pairs give one text.
  return messageId(JSON.stringify([source, required(attribute('id'), 'id')]));
};
