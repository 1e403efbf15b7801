import { RemovalPolicy } from 'aws-cdk-lib/core';

/** What `-c name=value`, or the context of cdk.json, can say about the app. */
export interface AppOptions {
  /** Part of the stack's name, so that several stages fit in one account. */
  readonly stage: string;

  /** Whether the data outlives the stack. */
  readonly removalPolicy: RemovalPolicy;

  /** Whether there are alarms. */
  readonly alarms: boolean;

  /** Who is told of them by mail. */
  readonly alarmEmail: string | undefined;

  /** Whether there is a dashboard. */
  readonly dashboard: boolean;

  /** Whether functions send traces to X-Ray. */
  readonly tracing: boolean;

  /** How many days logs are kept. */
  readonly logRetentionDays: number;
}

const removalPolicies = new Map([
  ['retain', RemovalPolicy.RETAIN],
  ['destroy', RemovalPolicy.DESTROY],
]);

/** The days that CloudWatch Logs takes. */
const retentions = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

/** Reads the app's options from its context; none is needed. */
export function appOptions(context: (name: string) => unknown): AppOptions {
  const refuse = (name: string, expected: string): never => {
    throw new Error(`Context "${name}" must be ${expected}`);
  };
  const value = (name: keyof AppOptions): unknown => context(name);
  // A value of the command line is text, one of cdk.json may be what it says.
  const onOrOff = (name: 'alarms' | 'dashboard' | 'tracing'): boolean => {
    const given = value(name) ?? 'on';
    if (given === true || given === 'on') return true;
    return given === false || given === 'off' ? false : refuse(name, `"on" or "off": -c ${name}=off`);
  };

  const stage = value('stage') ?? 'dev';
  if (typeof stage !== 'string' || !/^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(stage)) {
    return refuse('stage', 'letters, digits and hyphens, and start with a letter: -c stage=dev');
  }
  const policy = value('removalPolicy') ?? 'retain';
  const removalPolicy = typeof policy === 'string' ? removalPolicies.get(policy) : undefined;
  if (removalPolicy === undefined) {
    return refuse('removalPolicy', '"retain" or "destroy": -c removalPolicy=destroy');
  }
  const alarmEmail = value('alarmEmail');
  if (alarmEmail !== undefined && (typeof alarmEmail !== 'string' || !/^[^\s@]+@[^\s@]+$/.test(alarmEmail))) {
    return refuse('alarmEmail', 'an address: -c alarmEmail=team@example.com');
  }
  const alarms = onOrOff('alarms');
  if (!alarms && alarmEmail !== undefined) return refuse('alarmEmail', 'left out where alarms are off');
  const days = value('logRetentionDays') ?? 30;
  const logRetentionDays = typeof days === 'string' || typeof days === 'number' ? Number(days) : NaN;
  if (!retentions.includes(logRetentionDays)) {
    return refuse('logRetentionDays', `one of ${retentions.join(', ')}: -c logRetentionDays=7`);
  }
  return {
    stage,
    removalPolicy,
    alarms,
    alarmEmail,
    dashboard: onOrOff('dashboard'),
    tracing: onOrOff('tracing'),
    logRetentionDays,
  };
}
