import type { IHttpApi, IHttpRouteAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer, HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { Names } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/** Settings of {@link EndpointAuthorization.jwt}. */
export interface JwtAuthorizationOptions {
  /** Who issues the tokens, for example `https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_a1b2c3`. */
  readonly issuer: string;

  /** Whom the tokens are for; one of these must be in a token's `aud` or `client_id`. */
  readonly audience: string[];

  /**
   * Scopes of which a token needs one.
   *
   * @default - none
   */
  readonly scopes?: string[];
}

/**
 * Who may call an endpoint. It also says whose an `Idempotency-Key` is: two callers may choose the same.
 *
 * @example
 * ```ts
 * import { App, Stack, aws_lambda as lambda } from 'aws-cdk-lib';
 * import { EndpointAuthorization, IdempotentEndpoint, SafeWritesTable } from 'safewrites/cdk';
 *
 * const stack = new Stack(new App(), 'Shop');
 * const table = new SafeWritesTable(stack, 'Table');
 * new IdempotentEndpoint(stack, 'Charge', {
 *   table,
 *   authorization: EndpointAuthorization.jwt({ issuer: 'https://login.example.com/', audience: ['shop'] }),
 * });
 * // Its handler gives `idempotent` the function `cartOf` as `scope`.
 * new IdempotentEndpoint(stack, 'Guests', {
 *   table,
 *   path: '/guest-orders',
 *   code: lambda.Code.fromInline('export const handler = async () => ({ statusCode: 204 });'),
 *   authorization: EndpointAuthorization.none({ scopeFunction: 'cartOf' }),
 * });
 * ```
 */
export class EndpointAuthorization {
  /** Signed with IAM credentials that may invoke the API or the function URL; keys belong to the user or role. */
  static iam(): EndpointAuthorization {
    return new EndpointAuthorization('iam', () => new HttpIamAuthorizer());
  }

  /** With a JSON Web Token, which an HTTP API checks; keys belong to issuer and subject. */
  static jwt({ issuer, audience, scopes = [] }: JwtAuthorizationOptions): EndpointAuthorization {
    // An authorizer belongs to one API, where its name is its own.
    const authorizers = new WeakMap<IHttpApi, IHttpRouteAuthorizer>();
    const authorizerOf = (endpoint: Construct, api: IHttpApi): IHttpRouteAuthorizer => {
      const name = Names.uniqueResourceName(endpoint, { maxLength: 128, separator: '-' });
      const authorizer = authorizers.get(api) ?? new HttpJwtAuthorizer(name, issuer, { jwtAudience: audience });
      authorizers.set(api, authorizer);
      return authorizer;
    };
    return new EndpointAuthorization('jwt', authorizerOf, scopes, issuer, audience);
  }

  /**
   * By anyone. Nothing then names the caller, so your handler's `scope` function must: say which one it is.
   */
  static none({ scopeFunction }: { readonly scopeFunction: string }): EndpointAuthorization {
    return new EndpointAuthorization('none', () => undefined, [], undefined, undefined, scopeFunction);
  }

  private constructor(
    /** Which of the three it is. */
    readonly kind: 'iam' | 'jwt' | 'none',
    /** The authorizer of an endpoint's routes in an HTTP API. */
    readonly routeAuthorizer: (endpoint: Construct, api: IHttpApi) => IHttpRouteAuthorizer | undefined,
    /** Scopes of which a JWT needs one. */
    readonly scopes: string[] = [],
    /** Who issues the JWTs. */
    readonly issuer?: string,
    /** Whom the JWTs are for. */
    readonly audience?: string[],
    /** The handler's function that says whose a key is. */
    readonly scopeFunction?: string,
  ) {}
}
