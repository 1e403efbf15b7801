/** A reason not to start, in one sentence that says what to do about it. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
