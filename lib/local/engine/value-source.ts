import Stream from 'node:stream';

/**
 * A stream as dynalite's lazy lists read it. It is the old kind of stream on purpose (those lists then listen to `data`
 * once), and it gives everything in one turn, so that a page shows one moment of the table.
 */
export class ValueSource<T> extends Stream {
  #stopped = false;

  constructor(values: Iterable<T>) {
    super();
    queueMicrotask(() => {
      try {
        for (const value of values) {
          if (this.#stopped) break;
          this.emit('data', value);
        }
        this.emit('end');
      } catch (error) {
        this.emit('error', error);
      }
    });
  }

  destroy(): void {
    this.#stopped = true;
  }
}
