import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { alarmPeriod } from './alarms.js';

/** Where the kit's handlers send their metrics, in the lines that they log. */
export const metricsNamespace = 'SafeWrites';

/** A metric that a handler of the kit logs, by its function. */
export const kitMetric = (
  fn: lambda.IFunction,
  metricName: string,
  options: cloudwatch.MetricOptions = {},
): cloudwatch.Metric =>
  new cloudwatch.Metric({
    namespace: metricsNamespace,
    metricName,
    dimensionsMap: { function: fn.functionName },
    statistic: cloudwatch.Stats.SUM,
    period: alarmPeriod,
    ...options,
  });

/** A metric of Lambda's own, of a function. */
export const lambdaMetric = (
  fn: lambda.IFunction,
  metricName: string,
  options: cloudwatch.MetricOptions = {},
): cloudwatch.Metric =>
  new cloudwatch.Metric({
    namespace: 'AWS/Lambda',
    metricName,
    dimensionsMap: { FunctionName: fn.functionName },
    statistic: cloudwatch.Stats.SUM,
    period: alarmPeriod,
    ...options,
  });
