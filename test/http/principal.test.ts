import { expect, it } from 'vitest';
import { principalOf } from '../../lib/http/index.js';
import { httpEvent } from './http-event.js';

const of = (authorizer: unknown) => principalOf(httpEvent({ authorizer }));

it.each([
  ['a role, whatever its session', { iam: { userId: 'AROAEXAMPLE:first' } }, 'iam:AROAEXAMPLE'],
  ['the same role', { iam: { userId: 'AROAEXAMPLE:second' } }, 'iam:AROAEXAMPLE'],
  ['a user', { iam: { userId: 'AIDAEXAMPLE', cognitoIdentity: null } }, 'iam:AIDAEXAMPLE'],
  ['a federated user, not its account', { iam: { userId: '111122223333:bob' } }, 'iam:111122223333:bob'],
  ['the account', { iam: { userId: '111122223333' } }, 'iam:111122223333'],
  [
    'a Cognito identity, not the role that all share',
    { iam: { userId: 'AROAEXAMPLE:CognitoIdentityCredentials', cognitoIdentity: { identityId: 'eu-west-1:1' } } },
    'cognito:eu-west-1:1',
  ],
  ['a token', { jwt: { claims: { iss: 'https://i', sub: 's' }, scopes: null } }, 'jwt:["https://i","s"]'],
  ['a token without subject', { jwt: { claims: { iss: 'https://i' } } }, undefined],
  ['a Lambda authorizer', { lambda: { principalId: 'p' } }, undefined],
  ['nobody', null, undefined],
  ['an empty id', { iam: { userId: '' } }, undefined],
  ['an id that is no text', { iam: { userId: 7 } }, undefined],
])('names %s', (_name, authorizer, expected) => {
  expect(of(authorizer)).toBe(expected);
});

it('tells issuer and subject apart', () => {
  const token = (iss: string, sub: string) => of({ jwt: { claims: { iss, sub } } });
  expect(token('a","b', 'c')).not.toBe(token('a', 'b","c'));
});
