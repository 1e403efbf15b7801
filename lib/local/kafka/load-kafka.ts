import type * as Kafka from '@platformatic/kafka';

/** The client, which only those need who poll Kafka. */
export const loadKafka = async (): Promise<typeof Kafka> => {
  try {
    return await import('@platformatic/kafka');
  } catch (cause) {
    throw new Error('Kafka mappings need the package @platformatic/kafka 2: install it.', { cause });
  }
};
