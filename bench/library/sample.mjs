// One sample: `node sample.mjs <side> <case> <times>`. Prints microseconds an operation, of CPU and of the clock.
const [side, name, count] = process.argv.slice(2);
const { [name]: run, reads } = await import(`./${side}.mjs`);
if (name === 'parse') reads?.();
// A page of items is as many operations.
const { page } = await import('./order.mjs');
const operations = name === 'parse' ? page : 1;
const times = Math.ceil(Number(count) / operations);

const repeat = async () => {
  for (let i = 0; i < times; i++) {
    const result = run();
    if (typeof result?.then === 'function') await result;
  }
};
// For the compiler, as long for each side: what is fast would else be measured before it is compiled.
const warm = performance.now() + 500;
do await repeat();
while (performance.now() < warm);
const cpu = process.cpuUsage();
const started = performance.now();
await repeat();
const { user, system } = process.cpuUsage(cpu);
const done = times * operations;
console.log(JSON.stringify({ cpu: (user + system) / done, wall: ((performance.now() - started) * 1000) / done }));
process.exit();
