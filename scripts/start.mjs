// `npm start`: bundles and synthesizes the app, then serves it. Arguments: see `npm start -- --help`.
import { existsSync, readdirSync } from 'node:fs';
import { at, fail } from './project.mjs';

const signals = ['SIGINT', 'SIGTERM'];
const stop = () => {
  process.stdout.write('Stopped.\n');
  process.exit(0);
};
// Until main listens for them: loading takes its time.
for (const signal of signals) process.on(signal, stop);

if (Number(process.versions.node.split('.')[0]) < 22) {
  fail(
    `Node ${process.versions.node} is too old: run this as \`npm start\` after \`npm ci\`, which brings its own Node.`,
  );
}
const tsx = await import('tsx/esm/api').catch(() => fail('The dependencies are not installed: run `npm ci` first.'));
tsx.register();

const { main } = await import('../lib/local/start/main.ts');
const { StartError } = await import('../lib/local/start/start-error.ts');

const ended = main(process.argv.slice(2), async () => {
  // Else the app says so, with a stack trace, where it looks for the bundle.
  for (const { name } of readdirSync(at('lambdas'), { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    if (!existsSync(at('lambdas', name, 'index.ts'))) {
      throw new StartError(
        `lambdas/${name}/index.ts is missing: write it, or remove its folder and what refers to it.`,
      );
    }
  }
  const { buildLambdas } = await import('./build-lambdas.mjs');
  const { synthWithoutCli } = await import('./synth.mjs');
  try {
    await buildLambdas();
    // Else its service stays beside us.
    await (await import('esbuild')).stop();
    return await synthWithoutCli();
  } catch (error) {
    throw new StartError(`The app cannot be built: ${error.message}`);
  }
});
for (const signal of signals) process.off(signal, stop);
process.exit(await ended);
