import { describe, expect, it } from 'vitest';
import { startOptions } from '../../lib/local/start/options.js';
import { StartError } from '../../lib/local/start/start-error.js';

describe('the options of npm start', () => {
  it('are a port and memory by default', () => {
    expect(startOptions([], {})).toEqual({
      port: 3000,
      dataDir: undefined,
      contents: true,
      kafka: { brokers: [], topic: undefined },
      help: false,
    });
  });

  it('take --hide-contents, and a broker and a topic from the environment', () => {
    const environment = { KAFKA_BROKERS: '127.0.0.1:9092, 127.0.0.1:9093', KAFKA_TOPIC: 'live' };
    expect(startOptions(['--hide-contents'], environment)).toMatchObject({
      contents: false,
      kafka: { brokers: ['127.0.0.1:9092', '127.0.0.1:9093'], topic: 'live' },
    });
  });

  it.each([{ KAFKA_BROKERS: 'localhost' }, { KAFKA_BROKERS: 'http://x' }, { KAFKA_TOPIC: 'live' }])(
    'refuse %j',
    (environment) => {
      expect(() => startOptions([], environment)).toThrow(StartError);
    },
  );

  it('take PORT and --data-dir', () => {
    expect(startOptions(['--data-dir', 'data'], { PORT: '3001' })).toMatchObject({ port: 3001, dataDir: 'data' });
    expect(startOptions(['--data-dir=data', '--help'], { PORT: '' })).toMatchObject({ dataDir: 'data', help: true });
  });

  it.each(['x', '-1', '65536', '3000 ', '1e3'])('refuse the port %j', (PORT) => {
    expect(() => startOptions([], { PORT })).toThrow('PORT must be a number from 0 to 65535');
  });

  it.each([['--data-dir'], ['--data-dir='], ['--datadir', 'x'], ['extra']])('refuse %s', (...args) => {
    expect(() => startOptions(args, {})).toThrow(StartError);
  });
});
