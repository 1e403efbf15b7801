import { describe, expect, it } from 'vitest';
import { manualClock, scheduleSource } from '../../../lib/local/index.js';
import { scheduleExpression } from '../../../lib/local/sources/schedules/schedule-expression.js';

// A Monday.
const start = '2026-11-30T12:34:56Z';

describe('a schedule expression', () => {
  it.each([
    ['rate(1 minute)', '2026-11-30T12:35:56Z'],
    ['rate(5 minutes)', '2026-11-30T12:39:56Z'],
    ['rate(2 hours)', '2026-11-30T14:34:56Z'],
    ['rate(7 days)', '2026-12-07T12:34:56Z'],
    ['cron(0 10 * * ? *)', '2026-12-01T10:00:00Z'],
    ['cron(35 12 * * ? *)', '2026-11-30T12:35:00Z'],
    ['cron(0/15 * * * ? *)', '2026-11-30T12:45:00Z'],
    ['cron(0 18 ? * MON-FRI *)', '2026-11-30T18:00:00Z'],
    ['cron(0 9 ? * SAT,SUN *)', '2026-12-05T09:00:00Z'],
    ['cron(15 0 L * ? *)', '2026-12-31T00:15:00Z'],
    ['cron(0 0 29 FEB ? *)', '2028-02-29T00:00:00Z'],
    ['cron(0 0 1 1 ? 2030)', '2030-01-01T00:00:00Z'],
  ])('%s comes next at %s', (expression, next) => {
    expect(new Date(scheduleExpression(expression)(Date.parse(start))!).toISOString()).toBe(
      new Date(next).toISOString(),
    );
  });

  it('ends where its years do', () => {
    expect(scheduleExpression('cron(0 0 1 1 ? 2020)')(Date.parse(start))).toBeUndefined();
  });

  it.each([
    'rate(0 minutes)',
    'rate(1 week)',
    'cron(0 10 * * *)',
    'cron(0 10 * * * *)',
    'cron(60 * * * ? *)',
    'hourly',
  ])('refuses %s', (expression) => {
    expect(() => scheduleExpression(expression)).toThrow(RangeError);
  });
});

describe('a schedule', () => {
  it('calls the handler with a Scheduled Event for each time that the clock has passed', async () => {
    const clock = manualClock(Date.parse(start));
    const events: unknown[] = [];
    const source = scheduleSource({
      expression: 'rate(1 minute)',
      clock,
      ruleArn: 'arn:aws:events:eu-west-1:111122223333:rule/sweep',
      handler: (event) => events.push(event),
    });
    expect(await source.drain()).toBe(0);
    expect(source.nextDue()).toBe(clock() + 60_000);
    clock.advance(120_000);
    expect(await source.drain()).toBe(2);
    expect(events[0]).toEqual({
      version: '0',
      id: expect.any(String) as unknown,
      'detail-type': 'Scheduled Event',
      source: 'aws.events',
      account: '111122223333',
      time: '2026-11-30T12:35:56Z',
      region: 'eu-west-1',
      resources: ['arn:aws:events:eu-west-1:111122223333:rule/sweep'],
      detail: {},
    });
  });

  it('goes on after a call that failed', async () => {
    const clock = manualClock();
    let calls = 0;
    const source = scheduleSource({
      expression: 'rate(1 minute)',
      clock,
      input: { mine: true },
      handler: (event) => {
        calls += 1;
        expect(event).toEqual({ mine: true });
        throw new Error('as asked');
      },
    });
    clock.advance(120_000);
    await source.drain();
    expect(calls).toBe(2);
  });
});
