/** The name of an error for a log. One that no class would have was made up, and may hold a value. */
export const loggedName = (error: unknown): string => {
  const given = error instanceof Error ? error.name : typeof error;
  return /^\w{1,64}$/.test(given) ? given : 'Error';
};

/** Where an error came from. Frames only: the message, which the text of a stack begins with, may quote a value. */
export const loggedFrames = ({ stack = '', message }: Error): string[] =>
  stack
    .replace(message, '')
    .split('\n')
    .filter((line) => /^ {4}at .*:\d+:\d+\)?$/.test(line))
    .slice(0, 5)
    .map((line) => line.trim());
