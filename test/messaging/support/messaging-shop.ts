import { paginateScan } from '@aws-sdk/client-dynamodb';
import type { AttributeMap } from '../../../lib/commands/index.js';
import type { LocalDynamoDBOptions } from '../../../lib/local/index.js';
import { recipeShop, type HttpRequest, type RecipeShop } from '../../support/recipe-shop.js';

export { rejection, type Between } from '../../support/recipe-shop.js';

/** The text of a request's body. */
export const bodyText = ({ body }: Pick<HttpRequest, 'body'>): string =>
  typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();

export interface Stored {
  readonly inbox: readonly AttributeMap[];
  readonly outbox: readonly AttributeMap[];
  readonly others: readonly AttributeMap[];
}

export interface MessagingShop extends RecipeShop {
  /** The items in which the text stands. */
  stored(text: string): Promise<Stored>;
}

export const messagingShop = async (options: LocalDynamoDBOptions = {}): Promise<MessagingShop> => {
  const here = await recipeShop(options);
  const { client } = here.db;
  const TableName = here.shop.name;
  return {
    ...here,
    async stored(text) {
      const found: AttributeMap[] = [];
      for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true })) {
        found.push(...Items.filter((item) => JSON.stringify(item).includes(text)));
      }
      const of = (type: string): AttributeMap[] => found.filter((item) => item['_type']?.S === type);
      const others = found.filter((item) => !['INBOX', 'OUTBOX'].includes(item['_type']?.S ?? ''));
      return { inbox: of('INBOX'), outbox: of('OUTBOX'), others };
    },
  };
};

export const lost = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET', name: 'ECONNRESET' });

/** A promise, and what settles it. */
export const deferred = (): { readonly promise: Promise<void>; readonly resolve: () => void } => {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
};
