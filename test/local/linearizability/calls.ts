import type { LocalDynamoDB } from '../../../lib/local/index.js';
import type { Call, State } from './checker.js';

type Wire = Record<string, { S?: string; N?: string }>;
interface Reason {
  Code: string;
  Item?: Wire;
}
interface Answer {
  ok: boolean;
  type: string;
  body: {
    Item?: Wire;
    Attributes?: Wire;
    Responses?: { Item?: Wire }[];
    CancellationReasons?: Reason[];
  };
}

const valueOf = (item: Wire | undefined): number | undefined => (item?.['n']?.N ? Number(item['n'].N) : undefined);
/** What a transaction's step asks of its item and makes of it. */
interface Step {
  key: number;
  /** The value that its condition wants, or nothing. */
  expected?: number | undefined;
  next: (value: number | undefined) => number | undefined;
  wire: object;
}

/** Random calls on the items of one history, sent without the SDK's own work, and what their answers mean. */
export class Caller {
  constructor(
    private readonly local: LocalDynamoDB,
    private readonly table: string,
    private readonly history: string,
    private readonly keys: number,
    private readonly random: () => number,
    private readonly fresh: () => number,
    private readonly clock: () => number,
  ) {}

  /** Makes one call; undefined when it was refused for a conflict, and so must have had no effect. */
  async call(): Promise<Call | undefined> {
    const dice = this.random();
    if (dice < 0.2) return this.#get();
    if (dice < 0.35) return this.#put();
    if (dice < 0.5) return this.#increment();
    if (dice < 0.6) return this.#compareAndSet();
    if (dice < 0.65) return this.#delete();
    if (dice < 0.8) return this.#transactGet();
    return this.#transactWrite();
  }

  async #get(): Promise<Call | undefined> {
    const key = this.#anyKey();
    return this.#record(
      'GetItem',
      { ...this.#place(key), ConsistentRead: true },
      ({ body }) =>
        (state) =>
          state[key] === valueOf(body.Item) ? state : undefined,
    );
  }

  async #put(): Promise<Call | undefined> {
    const key = this.#anyKey();
    const value = this.fresh();
    const request = {
      TableName: this.table,
      Item: { ...this.#key(key), n: { N: `${value}` } },
      ReturnValues: 'ALL_OLD',
    };
    return this.#record(
      'PutItem',
      request,
      ({ body }) =>
        (state) =>
          state[key] === valueOf(body.Attributes) ? state.with(key, value) : undefined,
    );
  }

  async #increment(): Promise<Call | undefined> {
    const key = this.#anyKey();
    const request = {
      ...this.#place(key),
      UpdateExpression: 'ADD n :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
      ReturnValues: 'UPDATED_NEW',
    };
    return this.#record('UpdateItem', request, ({ body }) => (state) => {
      const next = (state[key] ?? 0) + 1;
      return next === valueOf(body.Attributes) ? state.with(key, next) : undefined;
    });
  }

  async #compareAndSet(): Promise<Call | undefined> {
    const key = this.#anyKey();
    const value = this.fresh();
    const seen = await this.#send('GetItem', this.#place(key));
    const expected = valueOf(seen.body.Item);
    const request = {
      ...this.#place(key),
      UpdateExpression: 'SET n = :v',
      ...this.#condition(expected, { ':v': { N: `${value}` } }),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    };
    return this.#record('UpdateItem', request, ({ ok, body }) => (state) => {
      if (ok) return state[key] === expected ? state.with(key, value) : undefined;
      return state[key] !== expected && state[key] === valueOf(body.Item) ? state : undefined;
    });
  }

  async #delete(): Promise<Call | undefined> {
    const key = this.#anyKey();
    return this.#record(
      'DeleteItem',
      { ...this.#place(key), ReturnValues: 'ALL_OLD' },
      ({ body }) =>
        (state) =>
          state[key] === valueOf(body.Attributes) ? state.with(key, undefined) : undefined,
    );
  }

  async #transactGet(): Promise<Call | undefined> {
    const keys = this.#someKeys();
    const request = { TransactItems: keys.map((key) => ({ Get: this.#place(key) })) };
    return this.#record(
      'TransactGetItems',
      request,
      ({ body }) =>
        (state) =>
          keys.every((key, i) => state[key] === valueOf(body.Responses?.[i]?.Item)) ? state : undefined,
    );
  }

  async #transactWrite(): Promise<Call | undefined> {
    const steps = await Promise.all(this.#someKeys().map((key) => this.#step(key)));
    const request = { TransactItems: steps.map(({ wire }) => wire) };
    return this.#record('TransactWriteItems', request, ({ ok, body }) => (state) => {
      if (ok) {
        const met = steps.every((step) => !('expected' in step) || state[step.key] === step.expected);
        return met ? steps.reduce<State>((next, { key, next: to }) => next.with(key, to(next[key])), state) : undefined;
      }
      const explained = steps.every((step, i) => {
        const reason = body.CancellationReasons![i]!;
        const met = !('expected' in step) || state[step.key] === step.expected;
        return reason.Code === 'None' ? met : !met && state[step.key] === valueOf(reason.Item);
      });
      return explained ? state : undefined;
    });
  }

  async #step(key: number): Promise<Step> {
    const place = this.#place(key);
    const failure = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };
    const dice = this.random();
    if (dice < 0.4) {
      const update = { UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': { N: '1' } } };
      return { key, next: (value) => (value ?? 0) + 1, wire: { Update: { ...place, ...update } } };
    }
    const expected = valueOf((await this.#send('GetItem', place)).body.Item);
    const condition = this.#condition(expected, {});
    if (dice < 0.6) {
      return {
        key,
        expected,
        next: (value) => value,
        wire: { ConditionCheck: { ...place, ...condition, ...failure } },
      };
    }
    if (dice < 0.7) {
      return { key, expected, next: () => undefined, wire: { Delete: { ...place, ...condition, ...failure } } };
    }
    const value = this.fresh();
    const Item = { ...this.#key(key), n: { N: `${value}` } };
    const wire = { Put: { TableName: this.table, Item, ...condition, ...failure } };
    return { key, expected, next: () => value, wire };
  }

  #condition(expected: number | undefined, values: object): object {
    if (expected === undefined) {
      return {
        ConditionExpression: 'attribute_not_exists(n)',
        ...(Object.keys(values).length > 0 ? { ExpressionAttributeValues: values } : {}),
      };
    }
    return {
      ConditionExpression: 'n = :expected',
      ExpressionAttributeValues: { ':expected': { N: `${expected}` }, ...values },
    };
  }

  async #record(
    operation: string,
    input: object,
    meaning: (answer: Answer) => Call['apply'],
  ): Promise<Call | undefined> {
    const invoked = this.clock();
    await this.#pause();
    const answer = await this.#send(operation, input);
    await this.#pause();
    const returned = this.clock();
    const conflict =
      answer.type === 'TransactionConflictException' ||
      answer.body.CancellationReasons?.some(({ Code }) => Code === 'TransactionConflict');
    if (conflict) return undefined;
    if (!answer.ok && !/ConditionalCheckFailed|TransactionCanceled/.test(answer.type)) {
      throw new Error(`${operation}: ${JSON.stringify(answer)}`);
    }
    return { invoked, returned, apply: meaning(answer) };
  }

  async #send(operation: string, input: object): Promise<Answer> {
    const { response } = await this.local.requestHandler.handle({
      headers: { 'x-amz-target': `DynamoDB_20120810.${operation}` },
      body: JSON.stringify(input),
    });
    const body = JSON.parse(Buffer.from(response.body).toString()) as Answer['body'] & { __type?: string };
    return { ok: response.statusCode === 200, type: body.__type?.replace(/^.*#/, '') ?? '', body };
  }

  /** A turn or none on the way, so that calls overlap. */
  async #pause(): Promise<void> {
    for (let turns = Math.floor(this.random() * 3); turns > 0; turns -= 1) await new Promise(setImmediate);
  }

  #anyKey(): number {
    return Math.floor(this.random() * this.keys);
  }

  #someKeys(): number[] {
    const all = Array.from({ length: this.keys }, (_, i) => i).sort(() => this.random() - 0.5);
    return all.slice(0, 2 + Math.floor(this.random() * 2));
  }

  #key(key: number): Wire {
    return { pk: { S: `${this.history}-${key}` }, sk: { S: '-' } };
  }

  #place(key: number): { TableName: string; Key: Wire } {
    return { TableName: this.table, Key: this.#key(key) };
  }
}
