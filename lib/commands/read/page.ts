/** One page of a query or scan. */
export interface Page<I> {
  readonly items: readonly I[];
  /** Items of this page after the filter; those of other entities are not counted. */
  readonly count: number;
  /** Items that DynamoDB read for it, which is what it costs. */
  readonly scannedCount: number;
  readonly hasMore: boolean;
  /** Where the next page starts, for `after(…)`; opaque, and bound to this query. Undefined on the last page. */
  readonly next: string | undefined;
}
