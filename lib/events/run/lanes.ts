import type { Batch, Delivery } from '../sources/delivery.js';

/** The records of a batch by lane, in the order in which the lanes begin; a record without lane is one of its own. */
export const lanesOf = ({ deliveries }: Batch): Delivery[][] => {
  const lanes = new Map<string | Delivery, Delivery[]>();
  for (const delivery of deliveries) {
    const id = delivery.lane ?? delivery;
    const lane = lanes.get(id);
    if (lane === undefined) lanes.set(id, [delivery]);
    else lane.push(delivery);
  }
  return [...lanes.values()];
};
