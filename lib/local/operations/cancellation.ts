import { serviceError } from '../engine/api-error.js';
import { CONFLICT_MESSAGE } from '../engine/locks.js';
import type { WireItem } from '../engine/types.js';

/** Why a step was cancelled, as it is reported in its place. */
export interface Reason {
  Code: string;
  Message?: string;
  Item?: WireItem;
}

export function cancelled(reasons: readonly Reason[]): Error {
  const codes = reasons.map(({ Code }) => Code).join(', ');
  return serviceError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { CancellationReasons: reasons },
  );
}

const MESSAGES: Readonly<Record<string, string>> = {
  ItemCollectionSizeLimitExceeded: 'Collection size exceeded.',
  ProvisionedThroughputExceeded:
    'The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.',
  ThrottlingError:
    'Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly.',
  TransactionConflict: CONFLICT_MESSAGE,
};

/** A reason that says nothing about the item. */
export function reasonOf(code: string): Reason {
  return code === 'None' ? { Code: code } : { Code: code, Message: MESSAGES[code] as string };
}
