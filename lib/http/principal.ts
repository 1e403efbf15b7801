import { isFilledText } from '../commands/attributes/text.js';
import type { HttpEvent } from './event.js';

type Loose = Readonly<Record<string, unknown>> | null | undefined;

const text = (value: unknown): string | undefined => (isFilledText(value) ? value : undefined);

/** The caller that IAM authorization names: stays the same over sessions, and is never another's. */
const iamPrincipal = (iam: Loose): string | undefined => {
  // All identities of a pool share a role, so the role would not tell them apart.
  const identity = text((iam?.['cognitoIdentity'] as Loose)?.['identityId']);
  if (identity !== undefined) return `cognito:${identity}`;
  const userId = text(iam?.['userId']);
  const [id, session] = userId?.split(':') ?? [];
  // A federated user's id is `account:name`, where the account alone would be everyone's.
  return session !== undefined && /^\d{12}$/.test(id as string) ? `iam:${userId}` : text(id) && `iam:${id}`;
};

const jwtPrincipal = (jwt: Loose): string | undefined => {
  const claims = jwt?.['claims'] as Loose;
  const issuer = text(claims?.['iss']);
  const subject = text(claims?.['sub']);
  return issuer && subject && `jwt:${JSON.stringify([issuer, subject])}`;
};

/**
 * Who called, by the authorizer of the event: with IAM the unique id of the user or role, never its session, or the
 * Cognito identity; with a JWT issuer and subject. What a Lambda authorizer calls its principal is its own affair: give
 * the endpoint a `scope` function that reads it.
 *
 * @returns undefined where nobody is named
 * @example
 * const authorizer = { iam: { userId: 'AROAEXAMPLE:session' } };
 * principalOf({ rawPath: '/', requestContext: { http: { method: 'POST' }, authorizer } }); // 'iam:AROAEXAMPLE'
 */
export const principalOf = (event: HttpEvent): string | undefined => {
  const { requestContext } = (event ?? {}) as Partial<HttpEvent>;
  const authorizer = requestContext?.authorizer as Record<string, Loose> | null | undefined;
  return iamPrincipal(authorizer?.['iam']) ?? jwtPrincipal(authorizer?.['jwt']);
};
