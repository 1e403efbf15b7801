import { validationError } from '../engine/api-error.js';
import type { Body, KeySchemaElement, TableDescription, WireItem, WireValue } from '../engine/types.js';
import type { Condition, Operand, Path, Statement } from './parse.js';

/** A statement as a request of another operation. */
export interface Translated {
  operation: 'Query' | 'Scan' | 'PutItem' | 'UpdateItem' | 'DeleteItem';
  request: Body;
}

/** Collects names and values while conditions are written as expressions. */
class Writer {
  readonly names: Record<string, string> = {};
  readonly values: Record<string, WireValue> = {};

  path(path: Path): string {
    return path
      .map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i === 0 ? '' : '.'}${this.#name(step)}`))
      .join('');
  }

  operand(operand: Operand): string {
    if ('path' in operand) return this.path(operand.path);
    if ('call' in operand) return `${operand.call}(${operand.args.map((arg) => this.operand(arg)).join(', ')})`;
    const name = `:v${Object.keys(this.values).length}`;
    this.values[name] = operand.value;
    return name;
  }

  condition(condition: Condition): string {
    switch (condition.type) {
      case 'and':
      case 'or':
        return condition.parts.map((part) => `(${this.condition(part)})`).join(` ${condition.type.toUpperCase()} `);
      case 'not':
        return `NOT (${this.condition(condition.part)})`;
      case 'compare':
        return `${this.operand(condition.left)} ${condition.operator} ${this.operand(condition.right)}`;
      case 'between':
        return `${this.operand(condition.operand)} BETWEEN ${this.operand(condition.low)} AND ${this.operand(condition.high)}`;
      case 'in':
        return `${this.operand(condition.operand)} IN (${condition.members.map((member) => this.operand(member)).join(', ')})`;
      case 'call':
        return `${condition.name}(${condition.args.map((arg) => this.operand(arg)).join(', ')})`;
    }
  }

  all(conditions: readonly Condition[]): string {
    return conditions.map((condition) => `(${this.condition(condition)})`).join(' AND ');
  }

  /** The maps that go with the expressions; empty ones are left out. */
  maps(): Body {
    return {
      ...(Object.keys(this.names).length > 0 ? { ExpressionAttributeNames: this.names } : {}),
      ...(Object.keys(this.values).length > 0 ? { ExpressionAttributeValues: this.values } : {}),
    };
  }

  #name(name: string): string {
    const known = Object.keys(this.names).find((key) => this.names[key] === name);
    const key = known ?? `#n${Object.keys(this.names).length}`;
    this.names[key] = name;
    return key;
  }
}

export function translate(statement: Statement, table: TableDescription): Translated {
  switch (statement.type) {
    case 'select':
      return translateSelect(statement, table);
    case 'insert': {
      const [{ AttributeName }] = table.KeySchema as [KeySchemaElement];
      return {
        operation: 'PutItem',
        request: {
          TableName: statement.table,
          Item: statement.item,
          ConditionExpression: 'attribute_not_exists(#pk)',
          ExpressionAttributeNames: { '#pk': AttributeName },
        },
      };
    }
    case 'update': {
      const writer = new Writer();
      const { key, rest } = keyOf(statement.where, table);
      const sets = statement.sets.map(({ path, value, plus }) => {
        const added = plus ? ` ${plus.operator} ${writer.operand(plus.operand)}` : '';
        return `${writer.path(path)} = ${writer.operand(value)}${added}`;
      });
      const removes = statement.removes.map((path) => writer.path(path));
      // An update never creates the item.
      const exists: Condition = { type: 'call', name: 'attribute_exists', args: [{ path: [Object.keys(key)[0]!] }] };
      return {
        operation: 'UpdateItem',
        request: {
          TableName: statement.table,
          Key: key,
          UpdateExpression: [
            ...(sets.length > 0 ? [`SET ${sets.join(', ')}`] : []),
            ...(removes.length > 0 ? [`REMOVE ${removes.join(', ')}`] : []),
          ].join(' '),
          ConditionExpression: writer.all([exists, ...rest]),
          ...(statement.returning ? { ReturnValues: statement.returning } : {}),
          ...writer.maps(),
        },
      };
    }
    case 'delete': {
      const writer = new Writer();
      const { key, rest } = keyOf(statement.where, table);
      return {
        operation: 'DeleteItem',
        request: {
          TableName: statement.table,
          Key: key,
          ...(rest.length > 0 ? { ConditionExpression: writer.all(rest) } : {}),
          ...(statement.returning ? { ReturnValues: statement.returning } : {}),
          ...writer.maps(),
        },
      };
    }
  }
}

function translateSelect(statement: Statement & { type: 'select' }, table: TableDescription): Translated {
  const indexes = [...(table.GlobalSecondaryIndexes ?? []), ...(table.LocalSecondaryIndexes ?? [])];
  const index = indexes.find(({ IndexName }) => IndexName === statement.index);
  if (statement.index !== undefined && !index) {
    throw validationError(`The table does not have the specified index: ${statement.index}`);
  }
  const [hash, range] = (index ?? table).KeySchema.map(({ AttributeName }) => AttributeName);
  const parts = conjuncts(statement.where);
  const hashPart = parts.find((part) => equals(part, hash!) !== undefined);
  const rangePart = hashPart && range ? parts.find((part) => part !== hashPart && bounds(part, range)) : undefined;
  const keys = [hashPart, rangePart].filter((part) => part !== undefined);
  const filters = parts.filter((part) => !keys.includes(part));
  const writer = new Writer();
  return {
    operation: hashPart ? 'Query' : 'Scan',
    request: {
      TableName: statement.table,
      ...(statement.index === undefined ? {} : { IndexName: statement.index }),
      ...(keys.length > 0 ? { KeyConditionExpression: writer.all(keys) } : {}),
      ...(filters.length > 0 ? { FilterExpression: writer.all(filters) } : {}),
      ...writer.maps(),
    },
  };
}

/** The key that a condition names in full, and what else it asks. */
export function keyOf(where: Condition | undefined, table: TableDescription): { key: WireItem; rest: Condition[] } {
  const key: WireItem = {};
  const rest = conjuncts(where);
  for (const { AttributeName } of table.KeySchema) {
    const at = rest.findIndex((part) => equals(part, AttributeName) !== undefined);
    if (at < 0) throw validationError('Where clause does not contain a mandatory equality on all key attributes');
    key[AttributeName] = equals(rest[at]!, AttributeName)!;
    rest.splice(at, 1);
  }
  return { key, rest };
}

/** The attributes that a SELECT names, each under the last step of its path. */
export function selected(item: WireItem, paths: readonly Path[] | undefined): WireItem {
  if (!paths) return item;
  const result: WireItem = {};
  for (const path of paths) {
    let value: WireValue | undefined = { M: item };
    for (const step of path) value = typeof step === 'number' ? value?.L?.[step] : value?.M?.[step];
    const name = path.findLast((step) => typeof step === 'string');
    if (value && typeof name === 'string') result[name] = value;
  }
  return result;
}

function conjuncts(where: Condition | undefined): Condition[] {
  if (!where) return [];
  return where.type === 'and' ? where.parts.flatMap(conjuncts) : [where];
}

function equals(part: Condition, name: string): WireValue | undefined {
  if (part.type !== 'compare' || part.operator !== '=' || !names(part.left, name)) return undefined;
  return 'value' in part.right ? part.right.value : undefined;
}

/** True when a condition can be a Query's on the sort key. */
function bounds(part: Condition, name: string): boolean {
  if (part.type === 'compare') return part.operator !== '<>' && names(part.left, name) && 'value' in part.right;
  if (part.type === 'between') return names(part.operand, name);
  return part.type === 'call' && part.name === 'begins_with' && names(part.args[0], name);
}

function names(operand: Operand | undefined, name: string): boolean {
  return operand !== undefined && 'path' in operand && operand.path.length === 1 && operand.path[0] === name;
}
