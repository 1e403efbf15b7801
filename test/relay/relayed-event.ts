import type { RelayedEvent } from '../../lib/recipes/index.js';

/** An event as a target is given it. */
export const relayedEvent = (event: Partial<RelayedEvent> = {}): RelayedEvent => ({
  ...{ id: 'e1', type: 'order.paid', source: 'shop.orders', detail: '{}', time: new Date('2026-12-01T00:00:00.123Z') },
  ...{ aggregate: 'order:1', sequence: 1, position: 0, traceparent: undefined },
  ...event,
});
