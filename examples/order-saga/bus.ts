import type { Table } from '../../lib/commands/index.js';
import type { MessageHandler } from '../../lib/messaging/index.js';
import { OutboxItem } from '../../lib/recipes/index.js';
import type { Envelope } from './messages.js';
import { orderHandler } from './order-saga.js';
import { clockHandler, paymentsHandler, shippingHandler } from './workers.js';

/** Who gets which messages. */
const receivers = (
  shop: Table,
): readonly { readonly takes: (type: string) => boolean; readonly handle: MessageHandler<Envelope> }[] => [
  {
    takes: (type) => ['order.placed', 'payment.charged', 'parcel.shipped', 'timeout.reached'].includes(type),
    handle: orderHandler(shop),
  },
  { takes: (type) => type.startsWith('shipping/'), handle: shippingHandler(shop) },
  { takes: (type) => type.startsWith('payments/'), handle: paymentsHandler(shop) },
  { takes: (type) => type.startsWith('clock/'), handle: clockHandler(shop) },
];

/** A message on its way, or with nobody to go to. */
interface Waiting {
  readonly envelope: Envelope;
  readonly handle: MessageHandler<Envelope>;
}

/**
 * A bus on this computer, as bad as a real one: it delivers in any order, several at a time, and some twice; its relay
 * forgets now and then that it has sent. `random` decides, from 0 to below 1.
 */
export class LocalBus {
  private readonly waiting: Waiting[] = [];
  private readonly receivers: ReturnType<typeof receivers>;
  /** The types of all messages that were relayed, in their order. */
  readonly relayed: string[] = [];

  constructor(
    private readonly shop: Table,
    private readonly random: () => number,
  ) {
    this.receivers = receivers(shop);
  }

  publish(envelope: Envelope): void {
    for (const { takes, handle } of this.receivers) if (takes(envelope.type)) this.waiting.push({ envelope, handle });
  }

  /** Delivers until nothing is on its way. */
  async run(): Promise<void> {
    do {
      while (this.waiting.length > 0) {
        const batch = Array.from({ length: 3 }, () => this.take()).filter((message) => message !== undefined);
        await Promise.all(batch.map((message) => this.deliver(message)));
        if (this.random() < 0.7) await this.relay();
      }
      await this.relay();
    } while (this.waiting.length > 0);
  }

  private take(): Waiting | undefined {
    const [message] = this.waiting.splice(Math.floor(this.random() * this.waiting.length), 1);
    // Comes again, now or later.
    if (message !== undefined && this.random() < 0.3) this.waiting.push(message);
    return message;
  }

  private async deliver(message: Waiting): Promise<void> {
    try {
      await message.handle(message.envelope);
    } catch {
      this.waiting.push(message);
    }
  }

  /** Sends what the outbox holds, and removes it. */
  private async relay(): Promise<void> {
    const outbox = this.shop.of(OutboxItem);
    for (let shard = 0; shard < 8; shard++) {
      for await (const item of outbox.query({ shard }).consistent().items()) {
        for (const { id, type, detail } of item.events) {
          this.relayed.push(type);
          this.publish({ id, type, detail: JSON.parse(detail) as unknown } as Envelope);
        }
        if (this.random() < 0.9) await outbox.deleteItem(item).send();
      }
    }
  }
}
