import { errorName, isApiError, serviceError, validationError } from '../engine/api-error.js';
import type { FieldTypes } from '../engine/dynalite.js';
import type { Engine } from '../engine/engine.js';
import type { Meter } from '../engine/meter.js';
import type { Body, WireItem, WireValue } from '../engine/types.js';
import { deleteItem, putItem, updateItem } from '../operations/item-writes.js';
import { RETURN_CONSUMED_CAPACITY } from '../operations/fields.js';
import type { Operation } from '../operations/operation.js';
import { queryAnyFilter, scan } from '../operations/reads.js';
import { transactGetItems } from '../operations/transact-get.js';
import { parseStatement } from './parse.js';
import type { Statement } from './parse.js';
import { keyOf, selected, translate } from './translate.js';
import type { Translated } from './translate.js';

const STATEMENT: FieldTypes = {
  Statement: { type: 'String', notNull: true, lengthGreaterThanOrEqual: 1, lengthLessThanOrEqual: 8192 },
  Parameters: { type: 'List', lengthGreaterThanOrEqual: 1, children: 'AttrStruct<ValueStruct>' },
  ConsistentRead: { type: 'Boolean' },
  ReturnValuesOnConditionCheckFailure: { type: 'String', enum: ['ALL_OLD', 'NONE'] },
};
const CAPACITY: FieldTypes = { ReturnConsumedCapacity: RETURN_CONSUMED_CAPACITY };
const EXECUTE: FieldTypes = {
  ...STATEMENT,
  ...CAPACITY,
  Limit: { type: 'Integer', greaterThanOrEqual: 1 },
  NextToken: { type: 'String' },
};
const list = (name: string, most: number): FieldTypes => ({
  ...CAPACITY,
  ClientRequestToken: { type: 'String', lengthGreaterThanOrEqual: 1, lengthLessThanOrEqual: 36 },
  [name]: {
    type: 'List',
    notNull: true,
    lengthGreaterThanOrEqual: 1,
    lengthLessThanOrEqual: most,
    children: { type: `ValueStruct<${name}>`, children: STATEMENT },
  },
});

interface StatementRequest extends Body {
  Statement: string;
  Parameters?: WireValue[];
  ConsistentRead?: boolean;
  Limit?: number;
  NextToken?: string;
}

const OPERATIONS: Record<Translated['operation'], Operation> = {
  DeleteItem: deleteItem,
  PutItem: putItem,
  Query: queryAnyFilter,
  Scan: scan,
  UpdateItem: updateItem,
};

async function run(engine: Engine, data: StatementRequest, meter: Meter): Promise<Body> {
  const statement = parseStatement(data.Statement, data.Parameters ?? []);
  const { operation, request } = translate(statement, engine.table(statement.table));
  const { ConsistentRead, Limit, NextToken, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure } = data;
  const reads = operation === 'Query' || operation === 'Scan';
  const shared = { ReturnConsumedCapacity };
  try {
    const answer = await OPERATIONS[operation](
      engine,
      reads
        ? { ...request, ...shared, ConsistentRead, Limit, ExclusiveStartKey: NextToken && parseToken(NextToken) }
        : { ...request, ...shared, ReturnValuesOnConditionCheckFailure },
      meter,
    );
    return statementAnswer(statement, answer);
  } catch (error) {
    if (statement.type === 'insert' && isApiError(error) && /#ConditionalCheckFailed/.test(error.body.__type)) {
      throw serviceError('DuplicateItemException', 'Duplicate primary key exists in table');
    }
    throw error;
  }
}

function statementAnswer(statement: Statement, answer: Body): Body {
  const capacity = answer['ConsumedCapacity'] === undefined ? {} : { ConsumedCapacity: answer['ConsumedCapacity'] };
  if (statement.type !== 'select') {
    return { Items: answer['Attributes'] === undefined ? [] : [answer['Attributes']], ...capacity };
  }
  const last = answer['LastEvaluatedKey'];
  return {
    Items: (answer['Items'] as WireItem[]).map((item) => selected(item, statement.paths)),
    ...(last === undefined
      ? {}
      : { LastEvaluatedKey: last, NextToken: Buffer.from(JSON.stringify(last)).toString('base64') }),
    ...capacity,
  };
}

function parseToken(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, 'base64').toString());
  } catch {
    throw validationError('Invalid NextToken');
  }
}

export const executeStatement: Operation = (engine, request, meter) =>
  run(engine, engine.check(request, EXECUTE) as StatementRequest, meter);

/** Each statement on its own: one that fails says so in its place. */
export const batchExecuteStatement: Operation = async (engine, request, meter) => {
  const data = engine.check(request, list('Statements', 25)) as Body & { Statements: StatementRequest[] };
  const responses: Body[] = [];
  for (const statement of data.Statements) {
    try {
      const { Items } = await run(engine, statement, meter);
      const [item] = Items as WireItem[];
      responses.push(item ? { Item: item } : {});
    } catch (error) {
      if (!isApiError(error)) throw error;
      const code = errorName(error.body.__type).replace(/Exception$/, '');
      responses.push({ Error: { Code: code === 'Validation' ? 'ValidationError' : code, Message: error.message } });
    }
  }
  const consumed = meter.consumed(data['ReturnConsumedCapacity'], false);
  return { Responses: responses, ...(consumed ? { ConsumedCapacity: consumed } : {}) };
};

const STEPS = { PutItem: 'Put', UpdateItem: 'Update', DeleteItem: 'Delete' } as const;

/** All statements together, either all reads or all writes, by the operations for transactions. */
export function executeTransaction(transactWrite: Operation): Operation {
  return async (engine, request, meter) => {
    const data = engine.check(request, list('TransactStatements', 100)) as Body & {
      TransactStatements: StatementRequest[];
    };
    const statements = data.TransactStatements.map(({ Statement, Parameters }) =>
      parseStatement(Statement, Parameters ?? []),
    );
    const { ReturnConsumedCapacity, ClientRequestToken } = data;
    const selects = statements.filter((statement) => statement.type === 'select');
    if (selects.length === statements.length) {
      const answer = await transactGetItems(
        engine,
        {
          ReturnConsumedCapacity,
          TransactItems: selects.map(({ table, where }) => ({
            Get: { TableName: table, Key: keyOf(where, engine.table(table)).key },
          })),
        },
        meter,
      );
      const found = answer['Responses'] as { Item?: WireItem }[];
      return {
        ...answer,
        Responses: found.map(({ Item }, i) => (Item ? { Item: selected(Item, selects[i]?.paths) } : {})),
      };
    }
    if (selects.length > 0) {
      throw validationError('A transaction has either reads or writes, not both');
    }
    const steps = statements.map((statement, i) => {
      const { operation, request: step } = translate(statement, engine.table(statement.table));
      const { ReturnValuesOnConditionCheckFailure } = data.TransactStatements[i]!;
      const { ReturnValues: _, ...rest } = step;
      return { [STEPS[operation as keyof typeof STEPS]]: { ...rest, ReturnValuesOnConditionCheckFailure } };
    });
    return transactWrite(engine, { ReturnConsumedCapacity, ClientRequestToken, TransactItems: steps }, meter);
  };
}
