import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
  type _Record as StreamRecord,
} from '@aws-sdk/client-dynamodb-streams';
import { entity, integer } from '../../lib/commands/index.js';
import type { SimulatedWorld } from '../../lib/local/index.js';
import { makeShop, shopOf } from './workload.js';

const Mark = entity('MARK', { pk: 'MARK', sk: 'MARK', attributes: { count: integer() } });

/** The text attributes of the table's items at one moment, by partition key. */
export type Moment = ReadonlyMap<string, Readonly<Record<string, string | undefined>>>;

/**
 * What the table held at each moment, as its stream tells it: an answer is right where it was so at some moment between
 * the call and its end. Moments within a transaction count too, so a model that uses them allows a little more than was.
 */
export class Moments {
  private count = 0;

  private constructor(private readonly world: SimulatedWorld) {}

  /** Makes the table. */
  static async of(world: SimulatedWorld): Promise<Moments> {
    await makeShop(world);
    return new Moments(world);
  }

  /** Marks this moment. */
  async mark(): Promise<number> {
    const count = ++this.count;
    await shopOf(this.world.clientConfig).of(Mark).put({ count });
    return count;
  }

  /** Reads the stream; the result gives the moments between two marks. */
  async read(): Promise<(from: number, to: number) => readonly Moment[]> {
    const moments: Moment[] = [];
    const places = new Map<number, number>();
    let now: Moment = new Map();
    for (const { dynamodb } of await this.records()) {
      const pk = dynamodb?.Keys?.['pk']?.S ?? '';
      const image = dynamodb?.NewImage;
      if (pk === 'MARK') {
        places.set(Number(image?.['count']?.N), moments.length);
      } else {
        const next = new Map(now);
        if (image === undefined) next.delete(pk);
        else next.set(pk, Object.fromEntries(Object.entries(image).map(([name, { S: text }]) => [name, text])));
        now = next;
      }
      moments.push(now);
    }
    return (from, to) => moments.slice(places.get(from), (places.get(to) ?? moments.length) + 1);
  }

  /** In the order of the commits. */
  private async records(): Promise<StreamRecord[]> {
    const client = new DynamoDBStreamsClient({ ...this.world.clientConfig });
    const { Streams: streams } = await client.send(new ListStreamsCommand({}));
    const StreamArn = streams?.[0]?.StreamArn;
    const { StreamDescription: stream } = await client.send(new DescribeStreamCommand({ StreamArn }));
    const records: StreamRecord[] = [];
    for (const { ShardId } of stream?.Shards ?? []) {
      const from = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' } as const;
      const { ShardIterator } = await client.send(new GetShardIteratorCommand(from));
      // A page holds all that a run writes.
      records.push(...((await client.send(new GetRecordsCommand({ ShardIterator }))).Records ?? []));
    }
    const number = ({ dynamodb }: StreamRecord): bigint => BigInt(dynamodb?.SequenceNumber ?? 0);
    return records.sort((a, b) => (number(a) < number(b) ? -1 : 1));
  }
}
