import type { Workload } from '../workload.js';
import { balances } from './balances.js';
import { charges } from './charges.js';
import { claims } from './claims.js';

/** All workloads. */
export const workloads: readonly Workload[] = [charges, balances, claims];
