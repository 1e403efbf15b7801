import { parseArgs } from 'node:util';
import type { KafkaSettings } from './event-sources.js';
import { StartError } from './start-error.js';

/** What the command line and the environment say. */
export interface StartOptions {
  readonly port: number;
  /** Undefined keeps everything in memory. */
  readonly dataDir: string | undefined;
  /** Whether what is stored and sent is shown, or only its kind. */
  readonly contents: boolean;
  readonly kafka: KafkaSettings;
  readonly help: boolean;
}

/** Shown by `npm start -- --help`. */
export const usage = `Usage: npm start -- [--data-dir DIR] [--hide-contents]

Serves the synthesized app on http://127.0.0.1:3000.
  --data-dir DIR   keep the table's items in DIR; without it they are gone at the end
  --hide-contents  show that something was stored or sent, and not what
Environment variables:
  PORT             another port (0 takes a free one)
  KAFKA_BROKERS    addresses of a broker, for the app's Kafka sources: 127.0.0.1:9092
  KAFKA_TOPIC      a topic of it for the function that reads the queues, where the app has no Kafka source`;

/** Reads the arguments, and PORT and Kafka's address from the environment. */
export function startOptions(args: string[], environment: NodeJS.ProcessEnv): StartOptions {
  const { values } = parse(args);
  if (values['data-dir'] === '') throw new StartError('--data-dir needs a folder: npm start -- --data-dir data');
  return {
    port: port(environment['PORT']),
    dataDir: values['data-dir'],
    contents: values['hide-contents'] !== true,
    kafka: kafka(environment['KAFKA_BROKERS'], environment['KAFKA_TOPIC']),
    help: values.help ?? false,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        'data-dir': { type: 'string' },
        'hide-contents': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new StartError(`${(error as Error).message.split('.')[0]}.\n\n${usage}`);
  }
}

function port(text: string | undefined): number {
  if (text === undefined || text === '') return 3000;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new StartError('PORT must be a number from 0 to 65535, for example: PORT=3001 npm start');
  }
  return Number(text);
}

function kafka(brokers = '', topic = ''): KafkaSettings {
  const addresses = brokers
    .split(',')
    .map((address) => address.trim())
    .filter((address) => address !== '');
  if (addresses.some((address) => !/^[^\s:]+:\d{1,5}$/.test(address))) {
    throw new StartError(
      'KAFKA_BROKERS must be addresses with ports, for example: KAFKA_BROKERS=127.0.0.1:9092 npm start',
    );
  }
  if (topic !== '' && addresses.length === 0) {
    throw new StartError('KAFKA_TOPIC needs KAFKA_BROKERS, for example: KAFKA_BROKERS=127.0.0.1:9092 npm start');
  }
  return { brokers: addresses, topic: topic === '' ? undefined : topic };
}
