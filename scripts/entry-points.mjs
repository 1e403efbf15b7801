import { manifest } from './project.mjs';

/** The package's entry points that are code: each subpath with its source file. */
export const entryPoints = () =>
  Object.entries(manifest().exports).flatMap(([subpath, conditions]) => {
    const folder = /^\.\/dist\/esm\/(.+)\/index\.js$/.exec(conditions.import ?? '')?.[1];
    return folder === undefined ? [] : [{ subpath, source: `lib/${folder}/index.ts` }];
  });
