import { SafeWritesError } from '../../commands/index.js';

/**
 * An event is older than the lateness that deletions are kept for. The deletion that it may be older than can be gone
 * already, so applying it could bring a deleted item back; nothing was sent.
 *
 * @example
 * const live = orderedGroups(matches, { groups: { score: { version: 'scoreAt', fields: ['homeGoals', 'awayGoals'] } } });
 * const score = { homeGoals: change.home, awayGoals: change.away, scoreAt: change.at };
 * await live.apply({ key: { id: 'm1' }, groups: { score } }).catch((error: unknown) => {
 *   if (error instanceof EventTooLateError) console.log('set aside');
 * });
 */
export class EventTooLateError extends SafeWritesError {
  static override get kind(): string {
    return 'EventTooLateError';
  }
  constructor(entity: string) {
    super(`An event of ${entity} is older than the lateness that deletions are kept for; nothing was written.`);
  }
}
