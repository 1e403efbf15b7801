import type { Batch } from '../sources/delivery.js';
import type { PoisonReason } from '../poison/poison-record-error.js';
import { errorLines, type ErrorLine } from './error-line.js';
import type { Progress } from './progress.js';

/** What is told of each batch, in one line: nothing of keys, values and payloads. */
export interface BatchLine {
  readonly timestamp: string;
  readonly level: 'INFO' | 'WARN' | 'ERROR';
  readonly message: 'batch';
  readonly source: string;
  readonly records: number;
  /** Handled, or skipped by the decoder. */
  readonly done: number;
  /** Handed to the failure destination. */
  readonly poison: number;
  /** By what was wrong with them. */
  readonly poisonReasons: Readonly<Partial<Record<PoisonReason, number>>>;
  readonly failed: number;
  /** Behind one that failed in their lane, or not done when the deadline was near. */
  readonly unfinished: number;
  readonly durationMs: number;
  /** The first failure of each name. */
  readonly errors: readonly ErrorLine[];
}

/** The line of a batch. */
export const batchLine = ({ source, fifo, deliveries }: Batch, progress: Progress, started: number): BatchLine => {
  const { done, poison, failed, unfinished } = progress.counts();
  return {
    timestamp: new Date().toISOString(),
    level: failed > 0 ? 'ERROR' : poison + unfinished > 0 ? 'WARN' : 'INFO',
    message: 'batch',
    source: fifo ? 'sqs-fifo' : source,
    records: deliveries.length,
    done,
    poison,
    poisonReasons: progress.reasons(),
    failed,
    unfinished,
    durationMs: Math.round(performance.now() - started),
    errors: errorLines(progress.errors()),
  };
};

/**
 * Writes a line to standard output as it is. `console.log` would not do: with JSON logs Lambda wraps what it is given, and
 * CloudWatch then finds no metrics in it.
 */
export const writeLine = (line: object): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};
