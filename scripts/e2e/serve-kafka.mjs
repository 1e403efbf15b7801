// `node scripts/e2e/serve-kafka.mjs` serves a Kafka broker on a free port of 127.0.0.1 until its standard input closes or
// a signal comes, and prints its address. It needs Java 17 and, the first time, a Maven repository: MAVEN_REPOSITORY, by
// default Maven Central. Where one is missing it says so in a sentence and exits with 69.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { at } from '../project.mjs';

const REPOSITORY = (process.env['MAVEN_REPOSITORY'] || 'https://repo1.maven.org/maven2').replace(/\/$/, '');
const CACHE = at('node_modules', '.cache', 'safewrites-kafka');
const JAVA = process.env['JAVA_HOME'] ? join(process.env['JAVA_HOME'], 'bin', 'java') : 'java';
const DOWNLOADS = 6;
const DOWNLOAD_MS = 120_000;
const START_MS = 60_000;

class Unavailable extends Error {}

const children = new Set();

/** Runs a command and gives what it said and its exit code; undefined where there is no such command. */
const run = (command, args, onOutput) =>
  new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    children.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        // What it says later is of no interest, but must be taken.
        if (output.length < 100_000) output += String(chunk);
        onOutput?.(output);
      });
    }
    child.on('error', () => resolve(undefined));
    child.on('close', (code) => {
      children.delete(child);
      resolve({ code, output });
    });
  });

const checkJava = async () => {
  const answer = await run(JAVA, ['-version']);
  if (answer === undefined) throw new Unavailable('there is no Java');
  const [, version] = /version "(\d+)/.exec(answer.output) ?? [];
  if (!(Number(version) >= 17)) throw new Unavailable('its Java is older than 17');
};

/** Gives a jar of the list: from the cache or, checked by its SHA-256, from the repository. */
const jar = async ([sha256, coordinates]) => {
  const [group, artifact, version] = coordinates.split(':');
  const name = `${artifact}-${version}.jar`;
  const file = join(CACHE, name);
  const isRight = (bytes) => createHash('sha256').update(bytes).digest('hex') === sha256;
  const cached = await readFile(file).catch(() => undefined);
  if (cached !== undefined && isRight(cached)) return file;
  const url = `${REPOSITORY}/${group.replaceAll('.', '/')}/${artifact}/${version}/${name}`;
  let bytes;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_MS) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    bytes = Buffer.from(await response.arrayBuffer());
  } catch (error) {
    throw new Unavailable(`${coordinates} cannot be downloaded: ${error.cause?.message ?? error.message}`);
  }
  if (!isRight(bytes)) throw new Error(`${coordinates} is not the file of kafka-jars.txt: its SHA-256 differs.`);
  // Whole or not at all, whoever else downloads it too.
  const part = `${file}.${process.pid}`;
  await writeFile(part, bytes);
  await rename(part, file);
  return file;
};

const jars = async () => {
  await mkdir(CACHE, { recursive: true });
  const lines = (await readFile(at('scripts', 'e2e', 'kafka-jars.txt'), 'utf8')).trim().split('\n');
  const wanted = lines.map((line) => line.split(' '));
  const files = [];
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < wanted.length; i = next++) files[i] = await jar(wanted[i]);
  };
  await Promise.all(Array.from({ length: DOWNLOADS }, worker));
  return files;
};

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const properties = (home, port, controller) =>
  `process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controller}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=127.0.0.1:${controller}
log.dirs=${join(home, 'logs')}
auto.create.topics.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=500
`;

const LOGGING = `status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %p %c %m %throwable%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
logger.server.name = kafka.server.KafkaRaftServer
logger.server.level = info
`;

/** Starts a broker; gives its address, or what it said when it ended. */
const start = async (classPath, home) => {
  const [port, controller] = [await freePort(), await freePort()];
  const config = join(home, 'server.properties');
  const logging = join(home, 'log4j2.properties');
  await rm(join(home, 'logs'), { recursive: true, force: true });
  await writeFile(config, properties(home, port, controller));
  await writeFile(logging, LOGGING);
  const java = [
    // A quick start counts more than speed later.
    ...['-Xms64m', '-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:-UsePerfData'],
    ...[`-Djava.io.tmpdir=${home}`, `-Dlog4j2.configurationFile=${logging}`, '-cp', classPath.join(delimiter)],
  ];
  const random = randomBytes(16);
  // An id that began with a hyphen would be read as an option.
  random[0] &= 0x7f;
  const id = random.toString('base64url');
  const formatted = await run(JAVA, [
    ...java,
    ...['kafka.tools.StorageTool', 'format', '--standalone', '-t', id, '-c', config],
  ]);
  if (formatted?.code !== 0) return { ended: formatted?.output };
  return new Promise((resolve) => {
    const timer = setTimeout(() => children.forEach((child) => child.kill('SIGKILL')), START_MS);
    const onOutput = (output) => {
      if (!output.includes('Kafka Server started')) return;
      clearTimeout(timer);
      resolve({ address: `127.0.0.1:${port}` });
    };
    void run(JAVA, [...java, 'kafka.Kafka', config], onOutput).then((answer) => {
      clearTimeout(timer);
      resolve({ ended: answer?.output });
    });
  });
};

const home = await mkdtemp(join(tmpdir(), 'safewrites-kafka-'));
const stop = async (code) => {
  const ended = [...children].map((child) => new Promise((resolve) => child.on('close', resolve)));
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(ended);
  await rm(home, { recursive: true, force: true });
  process.exit(code);
};
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void stop(0));
// So that it never outlives its starter.
process.stdin.on('end', () => void stop(0)).resume();

try {
  await checkJava();
  const classPath = await jars();
  let answer;
  // A free port may be taken by another in between.
  for (let attempt = 0; attempt < 3 && answer?.address === undefined; attempt++) answer = await start(classPath, home);
  if (answer.address === undefined) throw new Error(`Kafka did not start:\n${answer.ended}`);
  process.stdout.write(`KAFKA_BROKERS=${answer.address}\n`);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  await stop(error instanceof Unavailable ? 69 : 1);
}
