// The bytes of the files that an import reads: those of all chunks but what waits for its demand.
import { statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

let bytes = 0;
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) bytes += statSync(fileURLToPath(url)).size;
    return next(url, context);
  },
});
await import(process.argv[2]);
console.log(JSON.stringify({ bytes }));
process.exit();
