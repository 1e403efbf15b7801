// Writes present.json anew: run it by hand, where a format was raised, after keeping the old file under its own name.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { recordsNow } from './records-now.js';

const file = path.join(import.meta.dirname, 'present.json');
writeFileSync(file, `${JSON.stringify(await recordsNow(), undefined, 2)}\n`);
