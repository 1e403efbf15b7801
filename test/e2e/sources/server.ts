import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

/** Where Kafka is, or why it is not. */
export type Kafka = { readonly brokers: readonly string[] } | { readonly missing: string };

declare module 'vitest' {
  export interface ProvidedContext {
    kafka: Kafka;
  }
}

const SCRIPT = fileURLToPath(new URL('../../../scripts/e2e/serve-kafka.mjs', import.meta.url));
/** By which the script says that something is missing here. */
const UNAVAILABLE = 69;

/** Vitest's global setup of this lane: serves Kafka, and gives what stops it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = spawn(process.execPath, [SCRIPT], { stdio: ['pipe', 'pipe', 'pipe'] });
  let errors = '';
  server.stderr.on('data', (chunk) => (errors += String(chunk)));
  const ended = new Promise<number | null>((resolve) => server.on('close', resolve));
  const address = new Promise<string>((resolve) => {
    let output = '';
    server.stdout.on('data', (chunk) => {
      output += String(chunk);
      const [, found] = /KAFKA_BROKERS=(\S+)\n/.exec(output) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const answer = await Promise.race([address, ended]);
  if (typeof answer === 'string') {
    project.provide('kafka', { brokers: [answer] });
  } else if (answer === UNAVAILABLE) {
    const missing = errors.trim();
    console.warn(`Kafka: its tests are skipped, because ${missing}.`);
    project.provide('kafka', { missing });
  } else {
    throw new Error(errors);
  }
  return async () => {
    server.stdin.end();
    await ended;
  };
}
