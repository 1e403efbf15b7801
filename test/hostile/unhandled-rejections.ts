import { afterAll, afterEach, beforeAll, expect } from 'vitest';

/** Fails a test of the file that leaves a rejection to nobody, which would end a process. */
export const expectNoUnhandledRejections = (): void => {
  const unhandled: unknown[] = [];
  const keep = (error: unknown): void => void unhandled.push(error);
  beforeAll(() => void process.on('unhandledRejection', keep));
  afterEach(() => expect(unhandled.splice(0)).toEqual([]));
  afterAll(() => void process.off('unhandledRejection', keep));
};
