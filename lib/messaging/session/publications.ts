import { isFilledText } from '../../commands/attributes/text.js';
import type { Table } from '../../commands/index.js';
import type { AttributeMap, AttributeValue } from '../../commands/attributes/attribute-value.js';
import { itemSize, valueSize } from '../../commands/attributes/item-size.js';
import { invalid } from '../../commands/errors/errors.js';
import { stepSymbol, type StepCommand, type StepParts } from '../../commands/write/step.js';
import { reservedBytes } from '../../recipes/outbox/event.js';
import { outbox, type Outbox, type OutboxEvent, type OutboxOptions } from '../../recipes/index.js';
import type { Budget } from './budget.js';
import { itemId } from './operation.js';

/** What an event is about: events of one aggregate are sent in the order of its sequence. */
export interface OfAggregate {
  readonly aggregate: string;
  /** The aggregate's version, moved on by the same commit; the same for all of one message's events of the aggregate. */
  readonly sequence: number;
}

/** A message meant for one receiver, where an event is for whom it may concern. */
export interface CommandMessage extends Omit<OutboxEvent, 'type'> {
  /** Who is to do it, such as `payments`: letters, digits, `_`, `-` and `.`. */
  readonly to: string;
  /** What to do, such as `charge`. */
  readonly type: string;
}

/** The type under which a command message travels. */
export const commandType = ({ to, type }: Pick<CommandMessage, 'to' | 'type'>): string => {
  if (!isFilledText(type)) invalid('type', 'expected text, not empty');
  return typeof to === 'string' && /^[\w.-]+$/.test(to)
    ? `${to}/${type}`
    : invalid('to', 'expected letters, digits, _, - and .');
};

/** Order that is asked for by half would be none. */
const checkAggregate = (of: unknown): void => {
  const { aggregate, sequence } = (of ?? {}) as Partial<OfAggregate>;
  if (typeof aggregate !== 'string') invalid('aggregate', 'expected text, with a sequence: { aggregate, sequence }');
  if (typeof sequence !== 'number')
    invalid('sequence', 'expected a number, which goes with an aggregate: without it there is no order');
};

interface Publication {
  readonly name: string;
  readonly sequence: number | undefined;
  /** The outbox's own put, made for the first event; its list takes the later ones. */
  readonly parts: StepParts;
  readonly events: AttributeValue[];
  bytes: number;
}

/** An event as it is stored, with what it is about. */
export interface Published {
  readonly event: AttributeMap;
  readonly of: OfAggregate | undefined;
}

/** The events of one unit of work, in the outbox items of its commit: one an aggregate, one for those without. */
export class Publications {
  /** All events, in the order of the calls. */
  readonly published: Published[] = [];
  private readonly byAggregate = new Map<string | undefined, Publication>();
  private readonly outbox: Outbox;

  constructor(
    table: Table,
    options: OutboxOptions,
    private readonly traceparent: string | undefined,
    private readonly budget: Budget,
  ) {
    this.outbox = outbox(table, options);
  }

  /** Adds an event: checked and copied here, so that what changes afterwards is not sent. */
  add(event: OutboxEvent, of: OfAggregate | undefined): void {
    const { budget, traceparent, byAggregate } = this;
    if (typeof event !== 'object' || (event as OutboxEvent | null) === null)
      invalid('publish', 'expected an event, such as { type, detail }');
    if (of !== undefined) checkAggregate(of);
    const { aggregate, sequence } = of ?? {};
    const earlier = byAggregate.get(aggregate);
    if (earlier !== undefined && earlier.sequence !== sequence)
      invalid('sequence', 'one commit moves an aggregate once: all its events take the same sequence');
    // The outbox checks a publication of this event alone, with its aggregate; the item is then put together here.
    const ordered =
      aggregate === undefined ? { aggregate, sequence: undefined } : { aggregate, sequence: sequence as number };
    const put = this.outbox.publish({ ...ordered, events: [event], traceparent });
    const parts = (put as unknown as StepCommand)[stepSymbol]();
    const [value] = (parts.written_['events'] as { L: AttributeValue[] }).L as [AttributeValue];
    if (earlier === undefined) {
      const name = `outbox ${byAggregate.size + 1}`;
      const bytes = itemSize(parts.written_) + reservedBytes;
      budget.take(name, { share: 'outbox', item: itemId(parts), bytes });
      byAggregate.set(aggregate, { name, sequence, parts, events: [value], bytes });
    } else {
      const bytes = earlier.bytes + 1 + valueSize(value);
      budget.resize(earlier.name, bytes);
      earlier.bytes = bytes;
      earlier.events.push(value);
    }
    this.published.push({ event: value.M as AttributeMap, of });
  }

  /** The puts of the outbox items. */
  operations(): { readonly name: string; readonly parts: StepParts }[] {
    return [...this.byAggregate.values()].map(({ name, parts, events }) => {
      const written: AttributeMap = { ...parts.written_, events: { L: [...events] } };
      return { name, parts: { ...parts, written_: written, request_: { ...parts.request_, Item: written } } };
    });
  }
}
