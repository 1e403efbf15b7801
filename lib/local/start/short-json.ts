const most = 400;

/** A value as text for one line of a terminal. */
export function shortJson(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // Control characters of a message must not reach the terminal.
  const line = text.replaceAll(/\p{Cc}/gu, ' ');
  return line.length > most ? `${line.slice(0, most)}…` : line;
}

interface WireValue {
  readonly S?: string;
  readonly N?: string;
  readonly M?: Readonly<Record<string, WireValue>>;
  readonly L?: readonly WireValue[];
  readonly [type: string]: unknown;
}

/** An item as DynamoDB sends it, as plain values. */
export const plainItem = (item: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(item as Record<string, WireValue>).map(([name, value]) => [name, plain(value)]));

function plain(value: WireValue): unknown {
  if (value.N !== undefined) return Number.isSafeInteger(Number(value.N)) ? Number(value.N) : value.N;
  if (value.M !== undefined) return plainItem(value.M);
  if (value.L !== undefined) return value.L.map(plain);
  if ('NULL' in value) return null;
  return Object.values(value)[0];
}
