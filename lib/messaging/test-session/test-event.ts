import { toObject } from '../mapper/to-object.js';
import type { Published } from '../session/publications.js';

/** An event or command message that a handler gave, as a test asserts on it. */
export interface TestEvent {
  readonly id: string;
  /** Of a command message: `{to}/{type}`. */
  readonly type: string;
  readonly source: string;
  readonly detail: unknown;
  /** Undefined for one without aggregate. */
  readonly aggregate: string | undefined;
  readonly sequence: number | undefined;
}

/** An event as it will be sent. */
export const testEvent = ({ event, of }: Published): TestEvent => {
  const { id, type, source, detail } = toObject<Record<'id' | 'type' | 'source' | 'detail', string>>(event);
  return {
    id,
    type,
    source,
    detail: JSON.parse(detail) as unknown,
    aggregate: of?.aggregate,
    sequence: of?.sequence,
  };
};
