import type { Engine } from '../engine/engine.js';
import type { Meter } from '../engine/meter.js';
import type { Body } from '../engine/types.js';

/** One API operation: takes the request's body, counts into the meter, answers or throws an ApiError. */
export type Operation = (engine: Engine, request: Body, meter: Meter) => Body | Promise<Body>;
