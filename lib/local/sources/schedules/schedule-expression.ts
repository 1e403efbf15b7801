const minuteMs = 60_000;
const unitMs: Readonly<Record<string, number>> = { minute: minuteMs, hour: 60 * minuteMs, day: 24 * 60 * minuteMs };
const dayMs = 24 * 60 * minuteMs;

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

const refuse = (expression: string): never => {
  throw new RangeError(
    `The schedule ${expression} is not understood: write rate(5 minutes), or cron(minutes hours day-of-month month day-of-week year) without W and #.`,
  );
};

/**
 * Reads `rate(…)` and `cron(…)` of an EventBridge rule, in UTC
 * (https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-rule-schedule.html).
 *
 * @returns what gives the next time after another, in epoch milliseconds; undefined where there is none
 * @throws RangeError for what is neither
 */
export function scheduleExpression(expression: string): (after: number) => number | undefined {
  const rate = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression);
  if (rate !== null && Number(rate[1]) > 0) {
    const every = Number(rate[1]) * unitMs[rate[2]!]!;
    return (after) => after + every;
  }
  const fields = /^cron\((.+)\)$/.exec(expression)?.[1]?.split(' ');
  if (fields?.length !== 6) return refuse(expression);
  const [minutes, hours, days, month, weekday, year] = fields as [string, string, string, string, string, string];
  const field = (text: string, least: number, most: number, names: readonly string[] = [], first = 0) =>
    values(text, least, most, names, first) ?? refuse(expression);
  const lastDay = days === 'L';
  // One of the two days is a question mark.
  if ((days === '?') === (weekday === '?')) return refuse(expression);
  const inMinute = field(minutes, 0, 59);
  const inHour = field(hours, 0, 23);
  const inDay = lastDay || days === '?' ? undefined : field(days, 1, 31);
  const inMonth = field(month, 1, 12, months, 1);
  const inWeekday = weekday === '?' ? undefined : field(weekday, 1, 7, weekdays, 1);
  const inYear = field(year, 1970, 2199);
  const onDay = (date: Date): boolean =>
    inYear.has(date.getUTCFullYear()) &&
    inMonth.has(date.getUTCMonth() + 1) &&
    (inDay === undefined || inDay.has(date.getUTCDate())) &&
    (!lastDay || new Date(date.getTime() + dayMs).getUTCDate() === 1) &&
    (inWeekday === undefined || inWeekday.has(date.getUTCDay() + 1));

  return (after) => {
    const from = (Math.floor(after / minuteMs) + 1) * minuteMs;
    for (let day = Math.floor(from / dayMs) * dayMs; new Date(day).getUTCFullYear() < 2200; day += dayMs) {
      if (!onDay(new Date(day))) continue;
      for (const hour of [...inHour].sort((a, b) => a - b)) {
        for (const minute of [...inMinute].sort((a, b) => a - b)) {
          const at = day + hour * 60 * minuteMs + minute * minuteMs;
          if (at >= from) return at;
        }
      }
    }
    return undefined;
  };
}

function values(
  text: string,
  least: number,
  most: number,
  names: readonly string[],
  first: number,
): Set<number> | undefined {
  const number = (word: string): number => {
    const named = names.indexOf(word.toUpperCase());
    return named === -1 ? (/^\d+$/.test(word) ? Number(word) : Number.NaN) : named + first;
  };
  const found = new Set<number>();
  for (const part of text.split(',')) {
    const [range = '', step = '1'] = part.split('/');
    const [from = '', to = from] = range.split('-');
    const low = from === '*' ? least : number(from);
    const high = from === '*' || (part.includes('/') && to === from) ? most : number(to);
    if (!(low >= least && high <= most && low <= high && Number(step) >= 1)) return undefined;
    for (let value = low; value <= high; value += Number(step)) found.add(value);
  }
  return found;
}
