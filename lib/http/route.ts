import type { HttpEvent } from './event.js';
import { ProblemError, problems } from './problem.js';

/** Method and path template of an endpoint. */
export interface Route {
  readonly text: string;
  readonly method: string;
  readonly segments: readonly string[];
}

/** Reads `POST /orders/{id}`; undefined where it is none. */
export const parseRoute = (text: string): Route | undefined => {
  const match = /^([A-Z]+) (\/\S*)$/.exec(text);
  return match === null ? undefined : { text, method: match[1] as string, segments: (match[2] as string).split('/') };
};

const matches = (segments: readonly string[], path: string): boolean => {
  const given = path.split('/');
  return (
    given.length === segments.length &&
    segments.every((segment, i) => (/^\{.+\}$/.test(segment) ? given[i] !== '' : segment === given[i]))
  );
};

/**
 * The route that the key of a call is scoped to. Where the endpoint says which it serves, any other is refused: behind a
 * function URL, every method and path arrives.
 *
 * @throws ProblemError 404, 405
 */
export const routeOf = (event: HttpEvent, route: Route | undefined): string => {
  const { routeKey, rawPath, requestContext } = event;
  const { method } = requestContext.http;
  if (!route) return routeKey === undefined || routeKey === '$default' ? `${method} ${rawPath}` : routeKey;
  // The gateway has matched it, whatever stage or base path stands before it.
  if (routeKey === route.text) return route.text;
  const { stage } = requestContext;
  const prefix = `/${stage}/`;
  const path = stage !== '$default' && rawPath.startsWith(prefix) ? rawPath.slice(prefix.length - 1) : rawPath;
  if (!matches(route.segments, path)) throw new ProblemError(problems.notFound());
  if (method !== route.method) throw new ProblemError(problems.methodNotAllowed(route.method));
  return route.text;
};
