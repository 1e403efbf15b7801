import { build } from 'esbuild';
import { expect, it } from 'vitest';

/** The packages that an entry point imports, however deep. */
const packagesOf = async (folder: string): Promise<string[]> => {
  const { metafile } = await build({
    entryPoints: [`lib/${folder}/index.ts`],
    ...{ bundle: true, packages: 'external', platform: 'node', format: 'esm', metafile: true, write: false },
    ignoreAnnotations: true,
  });
  const [output] = Object.values(metafile.outputs);
  return [...new Set(output!.imports.map(({ path }) => path).filter((path) => path.startsWith('@aws-sdk/client-')))];
};

it('each target loads its own client, and the handlers load none of them', async () => {
  const dynamodb = '@aws-sdk/client-dynamodb';
  expect(await packagesOf('events')).toEqual([dynamodb]);
  expect(await packagesOf('recipes')).toEqual([dynamodb]);
  for (const name of ['eventbridge', 'sns', 'sqs']) {
    const clients = await packagesOf(`events/targets/${name}`);
    expect(clients.filter((client) => client !== dynamodb)).toEqual([`@aws-sdk/client-${name}`]);
  }
});
