/** What is told of each request: never a key or a value. */
export interface LocalRequest {
  /** The API operation, such as `PutItem`. */
  operation: string;
  tables: string[];
  /** Items written or read, and those that a transaction checked. */
  items: number;
  /** Consumed capacity, as AWS bills it: transactions double, failed conditions consume. */
  writeUnits: number;
  readUnits: number;
  /** `ok`, the error's type name, or `dropped` when a fault broke the connection. */
  outcome: string;
  durationMs: number;
}
