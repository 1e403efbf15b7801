import { access, constants, mkdir, readdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { createLocalDynamoDB } from '../index.js';
import type { LocalDynamoDB } from '../index.js';
import { StartError } from './start-error.js';

/** What the database puts into its folder; also what a first start that was cut short leaves. */
const ours = /^(CURRENT|LOCK|LOG(\.old)?|MANIFEST-\d+|\d+\.(log|ldb|sst|dbtmp))$/;

/** Makes the folder if need be; throws where it can't be written, or holds something else than a database. */
export async function checkDataFolder(folder: string): Promise<void> {
  let names: string[];
  try {
    await makeFolder(resolve(folder));
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    names = await readdir(folder);
  } catch {
    throw new StartError(`The data folder ${folder} cannot be written: name a folder of your own with --data-dir.`);
  }
  // Opening would leave files of ours among them.
  if (!names.includes('CURRENT') && names.some((name) => !ours.test(name))) {
    throw new StartError(
      `The data folder ${folder} holds other files and no database: name a new or empty folder with --data-dir.`,
    );
  }
}

/** Opens the embedded DynamoDB. */
export async function openDynamoDB(folder: string | undefined): Promise<LocalDynamoDB> {
  if (folder === undefined) return createLocalDynamoDB();
  try {
    return await createLocalDynamoDB({ dataDir: folder });
  } catch (error) {
    throw new StartError(
      codes(error).includes('LEVEL_LOCKED')
        ? `The data folder ${folder} cannot be opened, because another process uses it: stop that one, or name another folder with --data-dir.`
        : `The data folder ${folder} cannot be opened, because it is damaged or another program's: name another folder with --data-dir.`,
    );
  }
}

// Not `recursive`: below a folder that takes no new entries, such as /proc, Node's own tries for ever.
async function makeFolder(folder: string): Promise<void> {
  const made = await mkdir(folder).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  );
  if (made === undefined || made.code === 'EEXIST') return;
  if (made.code !== 'ENOENT' || dirname(folder) === folder) throw made;
  await makeFolder(dirname(folder));
  await mkdir(folder);
}

/** The codes of an error and of its causes. */
function codes(error: unknown): unknown[] {
  return error instanceof Error ? [(error as NodeJS.ErrnoException).code, ...codes(error.cause)] : [];
}
