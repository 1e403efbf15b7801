/** What happened in a run, readable. */
export class History {
  private readonly lines: string[] = [];
  private readonly keys = new Map<string, readonly string[]>();

  constructor(private readonly start: number) {}

  add(now: number, who: string, text: string): void {
    this.lines.push(`${String(Math.round(now - this.start)).padStart(9)} ms  ${who.padEnd(10)}${text}`);
  }

  /** Remembers a table's keys, which a put does not tell from other attributes. */
  learn(operation: string, input: Input): void {
    if (operation !== 'CreateTable') return;
    const schema = (input['KeySchema'] ?? []) as { AttributeName: string }[];
    this.keys.set(
      String(input['TableName']),
      schema.map(({ AttributeName }) => AttributeName),
    );
  }

  /** A request by its operation and the keys that it names. */
  describe(operation: string, input: Input): string {
    return [operation, ...this.items(input)].join(' ');
  }

  private items(input: Input): string[] {
    const steps = input['TransactItems'] as Record<string, Input>[] | undefined;
    if (steps !== undefined) {
      return steps.flatMap((step) =>
        Object.entries(step).map(([kind, of]) => `${kind.toLowerCase()}(${this.key(of)})`),
      );
    }
    const many = input['RequestItems'] as Record<string, unknown> | undefined;
    if (many !== undefined) return Object.keys(many);
    const values = input['ExpressionAttributeValues'] as Record<string, unknown> | undefined;
    if (input['KeyConditionExpression'] !== undefined)
      return [
        Object.values(values ?? {})
          .map(plain)
          .join(' '),
      ];
    return [this.key(input)];
  }

  private key(input: Input): string {
    const stored = (input['Key'] ?? input['Item'] ?? {}) as Record<string, unknown>;
    const names = this.keys.get(String(input['TableName'])) ?? Object.keys(input['Key'] ?? {});
    return names.map((name) => plain(stored[name])).join('/');
  }

  toString(): string {
    return this.lines.join('\n');
  }
}

type Input = Readonly<Record<string, unknown>>;

const plain = (value: unknown): string =>
  typeof value === 'object' && value !== null ? String(Object.values(value)[0]) : '';
