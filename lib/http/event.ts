/** What an endpoint reads of an event of an HTTP API (payload format 2.0) or a function URL. */
export interface HttpEvent {
  readonly version?: string | undefined;
  /** The matched route, such as `POST /charges`; `$default` for a function URL. */
  readonly routeKey?: string | undefined;
  readonly rawPath: string;
  readonly rawQueryString?: string | undefined;
  /** Names in lower case; repeated headers are joined by commas. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: string | null | undefined;
  readonly isBase64Encoded?: boolean | undefined;
  readonly pathParameters?: Readonly<Record<string, string | undefined>> | undefined;
  readonly requestContext: {
    readonly http: { readonly method: string };
    readonly stage?: string | undefined;
    readonly requestId?: string | undefined;
    /** Who called, in the form of the authorizer. */
    readonly authorizer?: unknown;
  };
}

/** What an endpoint returns. */
export interface HttpResult {
  statusCode: number;
  headers: Record<string, string>;
  body?: string;
}

/** All that an endpoint uses of Lambda's context. */
export interface HttpContext {
  getRemainingTimeInMillis?(): number;
}

/** A header's values, of which there should be one; its name in lower case. */
export const headerValues = (event: HttpEvent | null | undefined, name: string): string[] =>
  Object.entries(event?.headers ?? {}).flatMap(([key, value]) =>
    // The length first: a request has some twenty headers, and is asked for five of them.
    key.length === name.length && key.toLowerCase() === name && typeof value === 'string' ? value : [],
  );
