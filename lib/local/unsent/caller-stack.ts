/** The folder of the command library in a frame's path, of the sources or of a built copy. */
const libraryFolder = /^(.*[\\/]commands[\\/])/;

const pathOf = (frame: string): string =>
  frame
    .trim()
    .replace(/^at (?:.*? \()?/, '')
    .replace(/(?::\d+){1,2}\)?$/, '');

/**
 * The frames of the current call that are the caller's: those of the listener, of Node and, above the caller's, of the
 * command library are left out. The library is the folder of the frame that published; in a bundle, where it shares a
 * file with its caller, all frames stay.
 */
export function callerStack(listener: (message: unknown) => void): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  const holder: { stack?: string } = {};
  Error.captureStackTrace(holder, listener);
  Error.stackTraceLimit = stackTraceLimit;
  const frames = (holder.stack ?? '').split('\n').slice(1);
  const published = frames.findIndex((frame) => !pathOf(frame).startsWith('node:'));
  const own = frames.slice(Math.max(published, 0));
  const folder = libraryFolder.exec(pathOf(own[0] ?? ''))?.[1];
  const caller = folder === undefined ? 0 : own.findIndex((frame) => !pathOf(frame).startsWith(folder));
  return own.slice(Math.max(caller, 0)).join('\n');
}
