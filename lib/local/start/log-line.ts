/** What a function has printed: metrics of CloudWatch's embedded format become one short line, all else stays. */
export function logLine(line: string): string {
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  const { CloudWatchMetrics: directives } = (parsed?.['_aws'] ?? {}) as {
    CloudWatchMetrics?: readonly { Metrics: readonly { Name: string }[] }[];
  };
  if (!Array.isArray(directives)) return line;
  const names = (directives as { Metrics: readonly { Name: string }[] }[]).flatMap(({ Metrics }) =>
    Metrics.map(({ Name }) => Name),
  );
  const shown = names.filter((name) => name !== 'Duration' && parsed[name] !== 0 && parsed[name] !== undefined);
  const { poisonReasons, errors } = parsed;
  const filled = (value: unknown) => typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  return [
    `${typeof parsed['message'] === 'string' ? parsed['message'] : 'metrics'}:`,
    shown.length === 0 ? 'nothing' : shown.map((name) => `${name} ${String(parsed[name])}`).join(', '),
    ...(filled(poisonReasons) ? [`poison ${JSON.stringify(poisonReasons)}`] : []),
    ...(filled(errors) ? [`errors ${JSON.stringify(errors)}`] : []),
  ].join(' ');
}
