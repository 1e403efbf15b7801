import { Duration, Token } from 'aws-cdk-lib/core';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as sns from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import { refuse } from './invalid-prop-error.js';

/** What the alarms of a construct share. */
export interface AlarmOptions {
  /**
   * Whether there are alarms. Each costs $0.10 a month.
   *
   * @default true
   */
  readonly alarms?: boolean;

  /**
   * Who is told when an alarm begins, and when it ends.
   *
   * @default - nobody: alarms are seen in CloudWatch
   */
  readonly alarmTopic?: sns.ITopic;
}

/** A limit, from which on there is an alarm; `false` for no alarm. */
export type AlarmThreshold = number | false;

/** What one alarm watches. */
export interface AlarmSubject {
  readonly metric: cloudwatch.IMetric;

  /** The limit of which the prop says otherwise. */
  readonly threshold: number;

  /** How many of the metric's units make one of the threshold's. @default 1 */
  readonly scale?: number;

  /** What it means, and which chapter of docs/runbook.md says more. */
  readonly description: string;

  /** 5 minutes each. @default 1 */
  readonly evaluationPeriods?: number;

  /** @default NOT_BREACHING: nothing was called */
  readonly treatMissingData?: cloudwatch.TreatMissingData;
}

/** How often a metric of an alarm is looked at. */
export const alarmPeriod = Duration.minutes(5);

/** Makes the alarms of a construct, as its props say. */
export class AlarmMaker<Name extends string> {
  /** What was made. */
  readonly made: Partial<Record<Name, cloudwatch.Alarm>> = {};

  constructor(
    private readonly scope: Construct,
    private readonly options: AlarmOptions,
    private readonly thresholds: Partial<Readonly<Record<Name, AlarmThreshold | undefined>>>,
  ) {
    const given = Object.keys(thresholds).length > 0;
    if (options.alarms === false && (given || options.alarmTopic !== undefined)) {
      refuse(
        scope,
        given ? 'alarmThresholds' : 'alarmTopic',
        'is about alarms, which are off (alarms: false): leave one of the two',
      );
    }
  }

  /** Makes one, unless it is off. */
  add(name: Name, subject: AlarmSubject): void {
    const { alarms = true, alarmTopic } = this.options;
    const threshold: AlarmThreshold = this.thresholds[name] ?? subject.threshold;
    if (!alarms || threshold === false) return;
    if (Token.isUnresolved(threshold) || !Number.isFinite(threshold) || threshold <= 0) {
      refuse(this.scope, `alarmThresholds.${name}`, 'must be a literal number over 0, or false for no alarm');
    }
    const alarm = new cloudwatch.Alarm(this.scope, `${name.charAt(0).toUpperCase()}${name.slice(1)}Alarm`, {
      metric: subject.metric,
      threshold: threshold * (subject.scale ?? 1),
      evaluationPeriods: subject.evaluationPeriods ?? 1,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: subject.treatMissingData ?? cloudwatch.TreatMissingData.NOT_BREACHING,
      alarmDescription: subject.description,
    });
    if (alarmTopic !== undefined) {
      const action = new SnsAction(alarmTopic);
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
      // What always has data has stopped where there is none.
      if (subject.treatMissingData === cloudwatch.TreatMissingData.MISSING) alarm.addInsufficientDataAction(action);
    }
    this.made[name] = alarm;
  }
}
