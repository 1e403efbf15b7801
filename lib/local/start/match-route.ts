import type { AppRoute } from './synthesized-app.js';

/** The route that API Gateway would choose, with the values of its path parameters. */
export interface RouteMatch {
  readonly route: AppRoute;
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** A full match goes before a greedy one, a method before ANY, and `$default` takes the rest. */
export function matchRoute(routes: readonly AppRoute[], method: string, path: string): RouteMatch | undefined {
  let best: (RouteMatch & { rank: number }) | undefined;
  for (const route of routes) {
    const found = match(route, method, path);
    if (found !== undefined && (best === undefined || found.rank > best.rank)) best = found;
  }
  return best;
}

function match(route: AppRoute, method: string, path: string): (RouteMatch & { rank: number }) | undefined {
  if (route.routeKey === '$default') return { route, pathParameters: {}, rank: 0 };
  const [routeMethod = '', routePath = ''] = route.routeKey.split(' ');
  if (routeMethod !== 'ANY' && routeMethod !== method) return undefined;
  const wanted = routePath.split('/');
  const given = path.split('/');
  const pathParameters: Record<string, string> = {};
  let rank = routeMethod === 'ANY' ? 1 : 2;
  for (const [index, part] of wanted.entries()) {
    const greedy = /^\{(.+)\+\}$/.exec(part)?.[1];
    if (greedy !== undefined) {
      if (given.length <= index) return undefined;
      pathParameters[greedy] = decode(given.slice(index).join('/'));
      return { route, pathParameters, rank };
    }
    const value = given[index];
    if (value === undefined) return undefined;
    const name = /^\{(.+)\}$/.exec(part)?.[1];
    if (name === undefined) {
      if (part !== value) return undefined;
      rank += 4;
    } else {
      if (value === '') return undefined;
      pathParameters[name] = decode(value);
    }
  }
  return given.length === wanted.length ? { route, pathParameters, rank: rank + 1000 } : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
