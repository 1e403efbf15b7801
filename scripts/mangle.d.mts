/** The options of esbuild that shorten the names of the library's own members. */
export function mangling(): { mangleProps: RegExp; mangleCache: Record<string, string | false> };
