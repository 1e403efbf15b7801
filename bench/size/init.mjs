// One sample of an import: what loading the function costs a process, in milliseconds of CPU and of the clock, and in heap.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const file = process.argv[2];
const cpu = process.cpuUsage();
const started = performance.now();
await import(file);
const { user, system } = process.cpuUsage(cpu);
const wall = performance.now() - started;
setFlagsFromString('--expose-gc');
runInNewContext('gc')();
const heapMB = process.memoryUsage().heapUsed / 1e6;
console.log(JSON.stringify({ cpu: (user + system) / 1000, wall, heapMB }));
process.exit();
