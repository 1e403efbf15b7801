import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TestRunner } from 'vitest';
import type { RunnerTask, RunnerTaskResult, RunnerTestFile } from 'vitest';
import { differences } from './differences.js';
import type { Difference } from './differences.js';
import type { MiniStack } from './server.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Counts the cases that are known not to hold on MiniStack as skipped, and reports those of them that do hold. Skips
 * everything where MiniStack cannot be had.
 */
export default class MiniStackRunner extends TestRunner {
  onCollected(files: RunnerTestFile[]): void {
    const ministack = this.injectValue('ministack') as MiniStack;
    if ('missing' in ministack) {
      for (const task of files.flatMap(tasksOf)) skip(task, `There is no MiniStack: ${ministack.missing}`);
      return;
    }
    for (const file of files) {
      const tasks = tasksOf(file);
      const path = relative(root, file.filepath);
      for (const difference of differences.filter((candidate) => candidate.file === path)) {
        const task = tasks.find((candidate) => differenceOf(candidate) === difference);
        if (!task) throw new Error(`${path} has no case "${difference.name}": correct or remove it in differences.ts`);
        if (difference.run === false) skip(task, difference.reason);
      }
    }
  }

  override onAfterRunTask(task: RunnerTask): void {
    super.onAfterRunTask(task);
    const difference = differenceOf(task);
    if (!difference || !task.result) return;
    if (task.result.state === 'fail') {
      skip(task, difference.reason);
    } else if (task.result.state === 'pass') {
      const message = 'This holds on MiniStack now: remove it from differences.ts and docs/testing.md';
      task.result = { ...task.result, state: 'fail', errors: [{ name: 'Error', message, stack: message }] };
    }
  }
}

function skip(task: RunnerTask, reason: string): void {
  const { errors: _, ...result } = task.result ?? {};
  task.mode = 'skip';
  // Reporters show the note of a skipped case; the type leaves it to what throws it.
  task.result = { ...result, state: 'skip', note: reason } as RunnerTaskResult;
}

function differenceOf(task: RunnerTask): Difference | undefined {
  if (task.type !== 'test') return undefined;
  const path = relative(root, task.file.filepath);
  const names = [task.name];
  for (let suite = task.suite; suite; suite = suite.suite) names.unshift(suite.name);
  const name = names.join(' > ');
  return differences.find((difference) => difference.file === path && difference.name === name);
}

function tasksOf(task: RunnerTask): RunnerTask[] {
  return 'tasks' in task ? [task, ...task.tasks.flatMap(tasksOf)] : [task];
}
