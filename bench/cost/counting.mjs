/** Counts what DynamoDB is asked while something runs, at the wire; `holds` looks at what came of it. */
export const counting = (db) => {
  const seen = [];
  db.onRequest((request) => seen.push(request));
  const count = async (what, run, holds) => {
    seen.length = 0;
    const outcome = await run();
    const counted = [...seen];
    if (!holds(outcome)) throw new Error(`${what}: it did not come to what its row says.`);
    const sum = (units) => counted.reduce((total, request) => total + request[units], 0);
    return { what, requests: counted.length, writeUnits: sum('writeUnits'), readUnits: sum('readUnits') };
  };
  /** The same where the first transaction meets another one at its first item. */
  const meeting = async (what, run, holds) => {
    let met = false;
    db.setFaults(({ operation, input }) => {
      if (met || operation !== 'TransactWriteItems') return undefined;
      met = true;
      return {
        at: 'before',
        error: { reasons: input.TransactItems.map((_, i) => (i === 0 ? 'TransactionConflict' : undefined)) },
      };
    });
    try {
      return await count(what, run, (outcome) => met && holds(outcome));
    } finally {
      db.setFaults(undefined);
    }
  };
  return Object.assign(count, { meeting });
};

/** The name of the error that a call must end with. */
export const failure = (run) => () =>
  Promise.resolve()
    .then(run)
    .then(
      () => undefined,
      (error) => error.code ?? error.name,
    );

/** Whatever came of it. */
export const done = () => true;
