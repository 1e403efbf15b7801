/** The steps that a TransactWriteItems can be made of, as IAM names them. */
export const transactWriteActions = ['ConditionCheckItem', 'DeleteItem', 'PutItem', 'UpdateItem'] as const;

/** An IAM action of a TransactWriteItems step. */
export type TransactWriteAction = (typeof transactWriteActions)[number];

/** The IAM actions that the kit hands out, without `dynamodb:`. Scan is not among them. */
export type TableAction = TransactWriteAction | 'BatchGetItem' | 'BatchWriteItem' | 'GetItem' | 'Query';

/** A table's actions for a function. */
export interface TableActions {
  /** Allowed in a request of their own, and in transactions. */
  readonly actions?: readonly TableAction[];

  /** Allowed as steps of a TransactWriteItems only. */
  readonly transactWrite?: readonly TransactWriteAction[];
}
