import type { ConsumedCapacity, ItemCollectionMetrics } from '@aws-sdk/client-dynamodb';

/** A write that took effect. */
export interface Written {
  readonly conditionMet: true;
}
/** A write whose condition did not hold: nothing was written. */
export interface NotMet {
  readonly conditionMet: false;
}
/** Present where the chain asked for an item. */
export interface HasItem<out I> {
  readonly item: I;
}
/** Present where the write knows the version that it stored. */
export interface HasVersion {
  readonly version: number;
}
/** Present after `returnCapacity()`. */
export interface HasCapacity {
  readonly consumedCapacity: ConsumedCapacity;
}
/** Present after `returnItemCollectionMetrics()`; undefined on a table without local indexes. */
export interface HasMetrics {
  readonly itemCollectionMetrics: ItemCollectionMetrics | undefined;
}
