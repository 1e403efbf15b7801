import type { ConsumedCapacity, QueryCommandInput, ScanCommandInput } from '@aws-sdk/client-dynamodb';
import type { AttributeMap } from '../attributes/attribute-value.js';
import type { CommandOptions } from '../send/command.js';
import type { Projection } from './projection.js';

/** What the clauses say; replaced, never changed, so that forks share it. */
export interface PagedOptions extends CommandOptions {
  readonly consistent_?: boolean;
  readonly limit_?: number;
  readonly after_?: string | undefined;
  readonly projection_?: Projection;
  readonly capacity_?: boolean;
  /** Of a query only. */
  readonly reverse_?: boolean;
  /** The sort key is compared already: DynamoDB takes one condition on it. */
  readonly sorted_?: boolean;
  /** Of a scan only. */
  readonly segments_?: number;
}

/** The input of either operation. */
export type PagedRequest = QueryCommandInput & ScanCommandInput;

/** What either operation answers. */
export interface PagedOutput {
  readonly Items?: AttributeMap[] | undefined;
  readonly Count?: number | undefined;
  readonly ScannedCount?: number | undefined;
  readonly LastEvaluatedKey?: AttributeMap | undefined;
  readonly ConsumedCapacity?: ConsumedCapacity | undefined;
}

/** More items than the 1 MB of a page can hold. */
const mostOfAPage = 1_000_000;

/**
 * The request of the page after. A limit doubles from page to page: where most of what is read is not the read's,
 * asking for the same few again and again would take a request for each.
 */
export const following = (request: PagedRequest, { LastEvaluatedKey: last }: PagedOutput): PagedRequest | undefined => {
  if (!last) return undefined;
  const next: PagedRequest = { ...request, ExclusiveStartKey: last };
  if (next.Limit !== undefined) next.Limit = Math.min(next.Limit * 2, mostOfAPage);
  return next;
};
