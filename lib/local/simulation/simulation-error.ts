/** A run that could not be simulated, or did not end. */
export class SimulationError extends Error {
  override readonly name = 'SimulationError';
}
