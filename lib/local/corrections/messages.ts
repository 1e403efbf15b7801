import type { Body } from '../engine/types.js';

interface Rule {
  operations: readonly string[];
  /** dynalite's message. */
  from: RegExp;
  to: (match: RegExpExecArray, request: Body) => string;
}

const one = (value: string, constraint: string): string =>
  `1 validation error detected: Value ${value} failed to satisfy constraint: ${constraint}`;

/** Where dynalite refuses the right requests in words that DynamoDB has changed since. */
const RULES: readonly Rule[] = [
  {
    operations: ['BatchGetItem', 'BatchWriteItem'],
    from: /^1 validation error detected: Value '\{\}' at 'requestItems'/,
    to: (_match, request) => `The requestItems parameter is required for ${String(request['operation'])}`,
  },
  {
    operations: ['BatchGetItem'],
    from: /at 'requestItems\.([a-zA-Z0-9_.-]+)\.member\.keys' .*less than or equal to 100$/,
    to: ([, table]) =>
      one(`at 'RequestItems.${table}.member.Keys'`, 'Member must have length less than or equal to 100'),
  },
  {
    operations: ['Query'],
    from: /^1 validation error detected: Value '-?\d+' at 'limit' /,
    to: () => one("at 'Limit'", 'Member must have value greater than or equal to 1'),
  },
  {
    operations: ['CreateTable', 'UpdateTable', 'DeleteTable', 'DescribeTable'],
    from: /^TableName must be at least 3 characters long/,
    to: (_match, { TableName: name }) =>
      (name as string).length < 3
        ? one(`'${name as string}' at 'tableName'`, 'Member must have length greater than or equal to 3')
        : one(`'${name as string}' at 'tableName'`, 'Member must have length less than or equal to 255'),
  },
  {
    // Table names of item operations may be ARNs now, so that the shortest is one character.
    operations: ['PutItem', 'GetItem', 'UpdateItem', 'DeleteItem', 'Query', 'Scan'],
    from: /^2 validation errors detected: Value '' at 'tableName' /,
    to: () => one("'' at 'tableName'", 'Member must have length greater than or equal to 1'),
  },
  {
    operations: ['CreateTable'],
    from: /^1 validation error detected: Value '\[.*\]' at 'keySchema' (failed to satisfy constraint: .*)$/s,
    to: ([, constraint], request) => {
      const schema = request['KeySchema'] as { AttributeName: string; KeyType: string }[];
      const elements = schema.map(
        ({ AttributeName, KeyType }) => `KeySchemaElement(attributeName=${AttributeName}, keyType=${KeyType})`,
      );
      return `1 validation error detected: Value '[${elements.join(', ')}]' at 'keySchema' ${constraint}`;
    },
  },
  {
    operations: ['BatchWriteItem'],
    from: /at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: (\[.*\])$/s,
    to: ([, constraint], request) => {
      const tables = Object.entries(request['RequestItems'] as Record<string, unknown[]>);
      const dump = tables.map(
        ([name, entries]) => `${name}=[${entries.map((entry) => JSON.stringify(entry)).join(', ')}]`,
      );
      return one(`'{${dump.join(', ')}}' at 'requestItems'`, `Map value must satisfy constraint: ${constraint}`);
    },
  },
];

/** A validation message in DynamoDB's words. */
export function correctedMessage(operation: string, message: string, request: Body): string {
  for (const { operations, from, to } of RULES) {
    if (!operations.includes(operation)) continue;
    const match = from.exec(message);
    if (match) return to(match, { ...request, operation });
  }
  return message;
}
