import type { Publisher } from '../../recipes/index.js';

/** A publisher with a count of what it was asked to send. */
export interface CountingPublisher extends Publisher {
  /** Events that the target accepted. */
  accepted: number;
  /** Events that it did not, each time that they were sent. */
  failures: number;
}

/** Counts for one invocation what a target accepts; with `keepTrying`, no failure is taken for one for good. */
export const counting = (target: Publisher, keepTrying: boolean): CountingPublisher => ({
  ...(target.maximumEvents !== undefined && { maximumEvents: target.maximumEvents }),
  ...(target.maximumBytes !== undefined && { maximumBytes: target.maximumBytes }),
  ...(target.keepsOrder !== undefined && { keepsOrder: target.keepsOrder }),
  ...(target.sizeOf !== undefined && { sizeOf: target.sizeOf.bind(target) }),
  accepted: 0,
  failures: 0,
  async publish(events) {
    let accepted = 0;
    try {
      const answers = await target.publish(events);
      accepted = answers.filter(({ ok }) => ok).length;
      return keepTrying ? answers.map((answer) => (answer.ok ? answer : { ...answer, retryable: true })) : answers;
    } finally {
      this.accepted += accepted;
      this.failures += events.length - accepted;
    }
  },
});
