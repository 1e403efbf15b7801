import type { LocalApp } from './local-app.js';

/** What is printed once the app listens. */
export function announcement({ url, dynamodbEndpoint, app }: LocalApp, dataDir: string | undefined): string {
  const kept = dataDir === undefined ? 'in memory; --data-dir DIR keeps it' : `kept in ${dataDir}`;
  const lines = [
    `Listening on ${url}`,
    ...app.routes.map(({ routeKey }) => `  ${routeKey}`),
    `DynamoDB on ${dynamodbEndpoint} (${kept})`,
    ...app.tables.map(({ name }) => `  ${name}`),
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
  lines.push('', 'Ctrl-C stops.', '');
  return lines.join('\n');
}

const curl = (url: string, amount: number): string =>
  `curl -i ${url}/charges -H 'Idempotency-Key: order-1' -H 'Content-Type: application/json' ` +
  `-d '{"customerId":"alice","amount":${amount},"currency":"EUR"}'`;
