// Stands for the schema libraries that Powertools' Kafka can decode with, and that a consumer of JSON has no use for.
export default {};
export const BufferReader = undefined;
