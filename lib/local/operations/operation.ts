import type { Engine } from '../engine/engine.js';
import type { Meter } from '../engine/meter.js';
import type { Body } from '../engine/types.js';

/**
 * One API operation: takes the request's body, counts into the meter, answers or throws an ApiError.
 *
 * @param reasons for which a transaction is cancelled, by a fault; undefined of a step: as its condition says
 */
export type Operation = (
  engine: Engine,
  request: Body,
  meter: Meter,
  reasons?: readonly (string | undefined)[],
) => Body | Promise<Body>;
