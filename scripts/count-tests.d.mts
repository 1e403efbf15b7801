/** Counts the test cases of one of vitest's JSON reports. */
export function countTests(report: string): { passed: number; failed: number; skipped: number };
