import { PoisonRecordError } from '../../../lib/events/index.js';

/** Why a decoder refuses a record; undefined where it does not. */
export const reasonOf = async (decode: () => unknown): Promise<string | undefined> => {
  try {
    await decode();
    return undefined;
  } catch (error) {
    return error instanceof PoisonRecordError ? error.reason : 'no PoisonRecordError';
  }
};
