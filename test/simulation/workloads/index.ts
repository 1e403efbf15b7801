import type { Workload } from '../workload.js';
import { balances } from './balances.js';
import { charges } from './charges.js';
import { claims } from './claims.js';
import { counters } from './counters.js';
import { formats } from './formats.js';
import { events } from './events.js';
import { ingest } from './ingest.js';
import { leases } from './leases.js';
import { locks } from './locks.js';
import { messages } from './messages.js';
import { numbers } from './numbers.js';

/** All workloads. */
export const workloads: readonly Workload[] = [
  charges,
  leases,
  balances,
  claims,
  ingest,
  counters,
  numbers,
  events,
  messages,
  locks,
  formats,
];
