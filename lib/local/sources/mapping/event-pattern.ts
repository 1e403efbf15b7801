/** A pattern of events: see {@link eventPattern}. */
export type EventPattern = Readonly<Record<string, unknown>>;

type Test = (value: unknown, present: boolean) => boolean;

const refuse = (what: string): never => {
  throw new TypeError(`The event pattern is not understood: ${what}.`);
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Reads a pattern of Lambda's event filters or EventBridge's rules
 * (https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html): values, null, `prefix`,
 * `suffix`, `equals-ignore-case`, `anything-but`, `numeric`, `exists`, `wildcard` and `$or`. A list in the event matches where one of
 * its values does.
 *
 * @throws TypeError for any other operator
 */
export function eventPattern(pattern: EventPattern): (event: unknown) => boolean {
  if (!isObject(pattern)) return refuse('a pattern is an object');
  const tests = Object.entries(pattern).map(([name, rule]): ((event: unknown) => boolean) => {
    if (name === '$or') {
      if (!Array.isArray(rule)) return refuse('$or needs a list of patterns');
      const any = rule.map((part: unknown) => eventPattern(part as EventPattern));
      return (event) => any.some((test) => test(event));
    }
    if (isObject(rule)) {
      const inner = eventPattern(rule);
      // A missing branch is still asked: `exists: false` may hold in it.
      return (event) => inner(isObject(event) && Object.hasOwn(event, name) ? event[name] : undefined);
    }
    if (!Array.isArray(rule)) return refuse(`${name} needs a list of values or operators`);
    const any = rule.map(valueTest);
    return (event) => {
      const present = isObject(event) && Object.hasOwn(event, name) && !isObject(event[name]);
      const value = present ? event[name] : undefined;
      const values: unknown[] = Array.isArray(value) ? value : [value];
      return any.some((test) => values.some((one) => test(one, present)));
    };
  });
  return (event) => tests.every((test) => test(event));
}

function valueTest(rule: unknown): Test {
  if (!isObject(rule)) {
    if (Array.isArray(rule)) return refuse('a list within a list');
    return (value, present) => present && value === rule;
  }
  const [[operator, operand] = [], ...more] = Object.entries(rule);
  if (operator === undefined || more.length > 0) return refuse('each operator stands in an object of its own');
  if (operator === 'exists') return (_value, present) => present === operand;
  const test = operatorTest(operator, operand);
  return (value, present) => present && test(value);
}

function operatorTest(operator: string, operand: unknown): (value: unknown) => boolean {
  switch (operator) {
    case 'prefix':
    case 'suffix':
      return affixTest(operator, operand);
    case 'equals-ignore-case': {
      const wanted = text(operator, operand).toLowerCase();
      return (value) => typeof value === 'string' && value.toLowerCase() === wanted;
    }
    case 'wildcard': {
      const parts = text(operator, operand)
        .split('*')
        .map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
      const expression = new RegExp(`^${parts.join('.*')}$`, 's');
      return (value) => typeof value === 'string' && expression.test(value);
    }
    case 'anything-but': {
      if (isObject(operand)) {
        const [[inner, excluded] = ['', undefined]] = Object.entries(operand);
        const lists = (Array.isArray(excluded) ? excluded : [excluded]).map((one) => operatorTest(inner, one));
        return (value) => !lists.some((test) => test(value));
      }
      const excluded: unknown[] = Array.isArray(operand) ? operand : [operand];
      return (value) => !excluded.includes(value);
    }
    case 'numeric':
      return numericTest(operand);
    default:
      return refuse(`there is no operator ${operator} here`);
  }
}

function affixTest(operator: 'prefix' | 'suffix', operand: unknown): (value: unknown) => boolean {
  const ignoreCase = isObject(operand);
  const given = text(operator, ignoreCase ? operand['equals-ignore-case'] : operand);
  const wanted = ignoreCase ? given.toLowerCase() : given;
  return (value) => {
    if (typeof value !== 'string') return false;
    const own = ignoreCase ? value.toLowerCase() : value;
    return operator === 'prefix' ? own.startsWith(wanted) : own.endsWith(wanted);
  };
}

function numericTest(operand: unknown): (value: unknown) => boolean {
  if (!Array.isArray(operand) || operand.length % 2 !== 0)
    return refuse('numeric needs pairs of comparison and number');
  const comparisons = Array.from({ length: operand.length / 2 }, (_, index) => {
    const [sign, bound] = operand.slice(index * 2, index * 2 + 2) as [string, number];
    if (!['<', '<=', '=', '>', '>='].includes(sign) || typeof bound !== 'number')
      return refuse('numeric compares numbers');
    return { sign, bound };
  });
  return (value) =>
    typeof value === 'number' &&
    comparisons.every(
      ({ sign, bound }) =>
        (sign.startsWith('<') && value < bound) ||
        (sign.startsWith('>') && value > bound) ||
        (sign.endsWith('=') && value === bound),
    );
}

const text = (operator: string, operand: unknown): string =>
  typeof operand === 'string' ? operand : refuse(`${operator} needs a text`);
