import type { Body } from '../engine/types.js';

const TABLE_ARN = /^arn:aws:dynamodb:[a-z0-9-]+:\d{12}:table\/([a-zA-Z0-9_.-]+)$/;

/** Replaces table ARNs by names, where DynamoDB takes either: in the request itself, its transaction steps and batches. */
export function tableNames(request: Body): Body {
  const named = { ...withName(request) };
  const { TransactItems: steps, RequestItems: batches } = named;
  if (Array.isArray(steps))
    named['TransactItems'] = steps.map((step) => mapObject(step, (_kind, data) => withName(data)));
  if (isObject(batches)) {
    named['RequestItems'] = Object.fromEntries(Object.entries(batches).map(([name, keys]) => [nameOf(name), keys]));
  }
  return named;
}

function withName(data: unknown): Body {
  return isObject(data) && typeof data['TableName'] === 'string'
    ? { ...data, TableName: nameOf(data['TableName']) }
    : (data as Body);
}

const nameOf = (name: string): string => TABLE_ARN.exec(name)?.[1] ?? name;

function mapObject(value: unknown, map: (key: string, member: unknown) => unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, map(key, member)]));
}

function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
