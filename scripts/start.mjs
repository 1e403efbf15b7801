// `npm start`: bundles and synthesizes the app, then serves it. Arguments: see `npm start -- --help`.
import { fail } from './project.mjs';

if (Number(process.versions.node.split('.')[0]) < 22) {
  fail(
    `Node ${process.versions.node} is too old: run this as \`npm start\` after \`npm ci\`, which brings its own Node.`,
  );
}
const tsx = await import('tsx/esm/api').catch(() => fail('The dependencies are not installed: run `npm ci` first.'));
tsx.register();

const { main } = await import('../lib/local/start/main.ts');
const { StartError } = await import('../lib/local/start/start-error.ts');

process.exit(
  await main(process.argv.slice(2), async () => {
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
  }),
);
