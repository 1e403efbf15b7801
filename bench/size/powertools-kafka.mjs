// A Kafka consumer behind Powertools; it decodes, and leaves order and failures to the handler.
import { SchemaType, kafkaConsumer } from '@aws-lambda-powertools/kafka';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';

const client = new DynamoDBClient({});

export const handler = kafkaConsumer(
  async ({ records }) => {
    for (const { value } of records) {
      const Item = { pk: { S: `STATE#${value.id}` }, sk: { S: 'STATE' }, state: { S: value.state } };
      await client.send(new PutItemCommand({ TableName: process.env.TABLE_NAME, Item }));
    }
  },
  { value: { type: SchemaType.JSON } },
);
