import type { AnyEntity, Table } from '../../commands/index.js';
import type { OutboxEvent, Publisher } from '../../recipes/index.js';
import type { AnyStreamChange } from '../decoders/stream-changes.js';
import type { BatchOptions } from '../handler/options.js';
import type { RelayLine } from './relay-line.js';
import type { RelayMetrics } from './relay-options.js';

/** An event that a change of an item is mapped to. */
export interface ChangeEvent extends Omit<OutboxEvent, 'id' | 'time'> {
  /**
   * What consumers deduplicate by: 1 to 128 visible ASCII characters.
   * @default the record's own id in the stream, the same whenever it comes; of further events of a change with their place
   */
  readonly id?: string | undefined;
  /** @default when the change was made, as the stream tells it, to the second */
  readonly time?: Date | undefined;
  /** What the event is about; message group of FIFO targets. @default the item, by its key */
  readonly aggregate?: string | undefined;
  /** The W3C trace context that it belongs to, where the item holds it. */
  readonly traceparent?: string | undefined;
}

/** What {@link changeRelay} takes. */
export interface ChangeRelayOptions<L extends readonly [AnyEntity, ...AnyEntity[]]> extends BatchOptions {
  readonly table: Table;
  /** The entities whose changes matter. */
  readonly entities: L;
  /** The source of events that name none, such as `shop.orders`. */
  readonly source: string;
  /**
   * The events that a change means, in their order; none for one that means nothing. The same change must give the same
   * events, since it may come again. What it throws makes the record poison.
   */
  map(change: AnyStreamChange<L>): ChangeEvent | readonly ChangeEvent[] | undefined;
  /** Where events go: `eventBridgeTarget`, `snsTarget`, `sqsTarget`, or a publisher of your own. */
  readonly target: Publisher;
  /** How often one invocation sends an event that fails, with waits in between. @default 3 */
  readonly sends?: number | undefined;
  readonly metrics?: RelayMetrics | undefined;
  /** Takes the line of each batch. @default writes it to standard output as JSON, for CloudWatch to take metrics from */
  readonly log?: ((line: RelayLine) => void) | undefined;
}
