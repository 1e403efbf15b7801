/** Runs tasks, so many at once, and gives the milliseconds that each took. */
export const pool = async (count, concurrency, task) => {
  const times = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const i = next++;
      const started = performance.now();
      await task(i);
      times.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, worker));
  return times;
};
