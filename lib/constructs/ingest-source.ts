/** What an ingest needs to know of each of its sources. */
export interface IngestSource {
  /** Whether failures are reported per record. */
  readonly partialResponses: boolean;

  /** How late a record may arrive: what its source and the queue of its failures keep together. */
  readonly longestStaySeconds: number;

  /** What it reads, which no other source of the function may, and the prop that says so. */
  readonly reads: { readonly name: string; readonly prop: string };

  /** The most calls that its provisioned pollers make at once; 0 without them. */
  readonly pollerCalls: number;

  /** Calls that it may take at once, where it says so. */
  readonly maxConcurrency?: number | undefined;
}
