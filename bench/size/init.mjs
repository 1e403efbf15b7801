// One sample of an import: what loading the bundle costs a process, in milliseconds of CPU and of the clock.
const file = process.argv[2];
const cpu = process.cpuUsage();
const started = performance.now();
await import(file);
const { user, system } = process.cpuUsage(cpu);
console.log(JSON.stringify({ cpu: (user + system) / 1000, wall: performance.now() - started }));
process.exit();
