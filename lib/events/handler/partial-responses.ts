import { invalid } from '../../commands/errors/errors.js';

/** The environment variable by which a construct tells a function that its mappings take partial responses. */
const variable = 'SAFEWRITES_PARTIAL_RESPONSES';

/**
 * Whether the mapping takes partial responses: by option, else as the construct said. A mapping that was not told to
 * ignores them, and would acknowledge what failed.
 */
export const partialResponses = (option: boolean | undefined, environment = process.env): boolean => {
  if (option !== undefined) return option;
  const value = environment[variable] ?? '';
  if (value !== '' && value !== 'true' && value !== 'false') invalid(variable, "expected 'true' or 'false'");
  return value === 'true';
};
