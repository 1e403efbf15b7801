import type { TestProject } from 'vitest/node';
import { install } from './install.js';
import { serve } from './serve.js';

/** Where MiniStack is, or why it is not. */
export type MiniStack = { readonly endpoint: string } | { readonly missing: string };

declare module 'vitest' {
  export interface ProvidedContext {
    ministack: MiniStack;
  }
}

/** Vitest's global setup of this lane: starts MiniStack, and gives what stops it. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const missing = await install();
  if (missing !== undefined) {
    console.warn(`MiniStack: the integration tests are skipped on it, because ${missing}.`);
    project.provide('ministack', { missing });
    return undefined;
  }
  const { endpoint, stop } = await serve();
  project.provide('ministack', { endpoint });
  return stop;
}
