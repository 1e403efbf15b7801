/**
 * Message handlers whose writes, events and sagas commit with the record that the message was handled.
 *
 * @packageDocumentation
 */
export { messageHandler } from './handler/message-handler.js';
export type { Handled, HandleOptions, MessageHandler, MessageHandlerOptions } from './handler/options.js';
export { InboxRecord, inboxKey } from './inbox/inbox-record.js';
export { mapper, type Mapper, type MapperOptions } from './mapper/mapper.js';
export { toItem } from './mapper/to-item.js';
export { toObject } from './mapper/to-object.js';
export { bodyPath, cloudEventsId, eventBridgeId, headerId } from './message/identities.js';
export { messageId, type IdentityOf, type Message, type MessageId, type Received } from './message/message.js';
export { UnreadableMessageError } from './message/unreadable-message-error.js';
export { sagaEntity, type AnySaga, type SagaAttributes, type SagaEntity, type SagaRecord } from './saga/saga-entity.js';
export type { Saga } from './saga/saga.js';
export type { CommandMessage, OfAggregate } from './session/publications.js';
export type { Session } from './session/session.js';
export { fromEventBridge, type EventBridgeEvent, type FromEventBridge } from './sources/from-event-bridge.js';
export { fromInvocation, type FromInvocation } from './sources/from-invocation.js';
export { fromKafka, type FromKafka, type KafkaRecord } from './sources/from-kafka.js';
export { fromSqs, type FromSqs, type SqsRecord } from './sources/from-sqs.js';
export type { MessageSource } from './sources/source.js';
export {
  TestSession,
  type TestOperation,
  type TestSaga,
  type TestSessionOptions,
} from './test-session/test-session.js';
export type { TestEvent } from './test-session/test-event.js';
