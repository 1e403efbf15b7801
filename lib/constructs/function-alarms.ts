import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { alarmPeriod, type AlarmMaker, type AlarmThreshold } from './alarms.js';
import { lambdaMetric } from './metrics.js';

/** Limits that every function has. */
export interface FunctionAlarmThresholds {
  /**
   * Calls in 5 minutes that threw or timed out.
   *
   * @default 1
   */
  readonly errors?: AlarmThreshold;

  /**
   * Calls in 5 minutes that Lambda refused, since too many ran.
   *
   * @default 1
   */
  readonly throttles?: AlarmThreshold;
}

/** The alarms that every function has. */
export function addFunctionAlarms(
  alarms: AlarmMaker<'errors' | 'throttles'>,
  fn: lambda.IFunction,
  what: string,
): void {
  alarms.add('errors', {
    metric: lambdaMetric(fn, 'Errors'),
    threshold: 1,
    description: `Calls of ${what} throw or time out. Runbook: Errors.`,
  });
  alarms.add('throttles', {
    metric: lambdaMetric(fn, 'Throttles'),
    threshold: 1,
    description: `Calls of ${what} are refused by Lambda, since too many run. Runbook: Throttles.`,
  });
}

/** What is in a queue that nobody but people read. */
export const depthOf = (queue: sqs.IQueue): cloudwatch.Metric =>
  queue.metricApproximateNumberOfMessagesVisible({ statistic: cloudwatch.Stats.MAXIMUM, period: alarmPeriod });
