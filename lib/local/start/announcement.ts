import type { LocalApp } from './local-app.js';
import type { SynthesizedApp } from './synthesized-app.js';

/** What is printed once the app listens. */
export function announcement(local: LocalApp, dataDir: string | undefined): string {
  const { url, dynamodbEndpoint, sqsEndpoint, eventBridgeEndpoint, app } = local;
  const kept = dataDir === undefined ? 'in memory; --data-dir DIR keeps it' : `kept in ${dataDir}`;
  const lines = [
    `Listening on ${url}`,
    ...app.routes.map(({ routeKey }) => `  ${routeKey}`),
    `DynamoDB on ${dynamodbEndpoint} (${kept})`,
    ...app.tables.map(({ name }) => `  ${name}`),
    ...(app.queues.length === 0
      ? []
      : [`SQS on ${sqsEndpoint} (in memory)`, ...app.queues.map(({ name }) => `  ${name}`)]),
    ...(app.buses.length === 0
      ? []
      : [`EventBridge on ${eventBridgeEndpoint}`, ...app.buses.map((name) => `  ${name}`)]),
    `What is stored, queued and published: curl ${url}/_local`,
  ];
  if (app.routes.some(({ routeKey }) => routeKey === 'POST /charges')) {
    lines.push(
      '',
      'Charge a customer; run it twice, and the second call gets the first one’s answer:',
      `  ${curl(url, 1250)}`,
      'The same key for another charge is refused:',
      `  ${curl(url, 9900)}`,
    );
  }
  lines.push(...scores(url, app), '', 'Ctrl-C stops.', '');
  return lines.join('\n');
}

const curl = (url: string, amount: number): string =>
  `curl -i ${url}/charges -H 'Idempotency-Key: order-1' -H 'Content-Type: application/json' ` +
  `-d '{"customerId":"alice","amount":${amount},"currency":"EUR"}'`;

/** How to send events of matches, for the queues of the function that takes them. */
function scores(url: string, { mappings, functions }: SynthesizedApp): string[] {
  const ingest = mappings.filter(({ sourceArn, function: name }) => {
    const environment = functions.find((one) => one.name === name)?.environment ?? {};
    return sourceArn?.includes(':sqs:') === true && environment['SAFEWRITES_LATENESS_DAYS'] !== undefined;
  });
  const names = ingest.map(({ sourceArn }) => sourceArn!.split(':').at(-1)!);
  const standard = names.find((name) => !name.endsWith('.fifo'));
  const fifo = names.find((name) => name.endsWith('.fifo'));
  if (standard === undefined) return [];
  const send = (name: string, body: string) => `  curl '${url}/_local/queues/${name}' -d '${body}'`;
  const score = (home: number, minute: number) =>
    `{"type":"score","matchId":"m1","home":${home},"away":0,"at":"2026-12-01T20:${minute}:00Z"}`;
  return [
    '',
    'Send a score, then one that is late, which is Superseded, and the state stays. Pasted together they may arrive the other',
    'way round, and both are Applied; the state at the end is the same:',
    send(standard, score(2, 40)),
    send(standard, score(1, 20)),
    'The first one again is a duplicate: AlreadyStored. Another score of the same time is a Conflict:',
    send(standard, score(3, 40)),
    'One that is no score is poison: it goes to the queue of failures at once, with its reason:',
    send(standard, '{"type":"score","matchId":"m1","home":"two"}'),
    ...(fifo === undefined
      ? []
      : ['In order by match, through the FIFO queue:', send(`${fifo}?group=m1`, score(4, 50))]),
  ];
}
