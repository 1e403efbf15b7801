import { join } from 'node:path';
import { bars } from '../lib/bars.mjs';
import { interleaved, sample } from '../lib/process.mjs';
import { digits, median, spread } from '../lib/statistics.mjs';
import { markdown } from '../lib/table.mjs';

const script = join(import.meta.dirname, 'sample.mjs');
const check = join(import.meta.dirname, 'check.mjs');
const base = 'document-client';
const sides = [
  'safewrites',
  'attribute-values',
  base,
  'electrodb',
  'dynamodb-toolbox',
  'dynamodb-onetable',
  'dynamoose',
];
const cases = [
  { name: 'update', title: 'An update of three attributes with a condition, built and marshalled', times: 60_000 },
  { name: 'put', title: 'A put of ten attributes, nested, built and marshalled', times: 60_000 },
  { name: 'parse', title: 'That item read, of a page of 25', times: 250_000 },
  { name: 'send', title: 'The update sent through the client, to a handler that answers at once', times: 10_000 },
];
/** Sides that are slow enough to be measured by fewer runs. */
const fewer = { dynamoose: 50, electrodb: 10, 'dynamodb-toolbox': 10, 'dynamodb-onetable': 5 };

/** Library CPU: building, marshalling, parsing and sending, beside the peers. */
export const library = ({ rounds }) => {
  for (const side of sides) sample(check, side);
  const plots = {};
  const ratiosOf = new Map(sides.map((side) => [side, [side]]));
  const sections = cases.map(({ name, title, times }) => {
    const samples = interleaved(sides, rounds, (side) =>
      sample(script, side, name, String(Math.ceil(times / (fewer[side] ?? 1)))),
    );
    const against = name === 'send' ? 'attribute-values' : base;
    const rows = sides.map((side) => {
      const cpu = samples.get(side).map((one) => one.cpu);
      const ratios = cpu.map((one, i) => one / samples.get(against)[i].cpu);
      const [low, high] = spread(ratios);
      ratiosOf.get(side).push(digits(median(ratios)));
      return {
        side,
        value: median(cpu),
        cells: [
          side,
          digits(median(cpu)),
          digits(median(samples.get(side).map((one) => one.wall))),
          digits(median(ratios)),
          `${digits(low)} to ${digits(high)}`,
        ],
      };
    });
    plots[`library-${name}.svg`] = bars({
      title,
      unit: 'CPU µs',
      rows: rows.map(({ side, value }) => ({ name: side, value, text: digits(value) })),
    });
    const head = ['', 'CPU µs', 'wall µs', `CPU against ${against}`, 'spread'];
    return `### ${title}\n\n${markdown(
      head,
      rows.map(({ cells }) => cells),
    )}\n\n![${title}](library-${name}.svg)`;
  });
  const note =
    'Each side is checked first: on the embedded table its put, its update as built and as it went over the wire, and its ' +
    'condition must leave what those written by hand leave, and what it reads must be the order; attributes that a library ' +
    'keeps for itself aside. Building and marshalling include the command of the SDK that is then sent. `document-client` is ' +
    'its own middleware around the marshalling, without the request. safewrites, onetable and dynamoose have no public ' +
    'method that parses without a request: they query a client that has the page at once, so that the query is in their ' +
    'figures too. `attribute-values` maps each attribute by hand and checks nothing.';
  const head = ['', 'update, three sets and a condition', 'put, ten attributes', 'read of that item', 'whole send'];
  const tables = { library: markdown(head, [...ratiosOf.values()]) };
  return { title: 'Library', text: [note, ...sections].join('\n\n'), plots, tables };
};
