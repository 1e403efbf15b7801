// An embedded table in a process of its own, so that neither its CPU nor its memory is in the figures of what asks it.
import { createLocalDynamoDB } from '../../dist/esm/local/index.js';

const db = await createLocalDynamoDB();
const seen = { requests: 0, ok: 0, throttled: 0 };
db.onRequest(({ outcome }) => {
  seen.requests++;
  if (outcome === 'ok') seen.ok++;
  if (outcome === 'ThrottlingException') seen.throttled++;
});
const { endpoint } = await db.listen();

let seed = 1;
/** The same sequence in each run (https://en.wikipedia.org/wiki/Xorshift). */
const random = () => {
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  return (seed >>> 0) / 2 ** 32;
};

const answers = {
  throttle({ part }) {
    db.setFaults(part === 0 ? undefined : () => (random() < part ? { at: 'before', error: 'Throttling' } : undefined));
  },
  counts: () => ({ ...seen }),
  endpoint: () => endpoint,
};
process.on('message', ({ id, ask, ...given }) => process.send({ id, answer: answers[ask](given) }));
process.on('disconnect', () => process.exit());
