import { optionsOf } from '../sources/queues/fauxqs-store.js';
import type { LocalQueues } from '../sources/queues/local-queues.js';
import { StartError } from './start-error.js';
import type { AppQueue } from './synthesized-app.js';

/** Makes the app's queues, with their redrive. */
export function createQueues(queues: LocalQueues, wanted: readonly AppQueue[]): void {
  for (const { name } of wanted) {
    if (queues.queue(name) !== undefined) throw new StartError(`Two queues of the app are named ${name}: name them.`);
    queues.create(name);
  }
  // A redrive may name a queue that comes later in the template.
  for (const { name, attributes } of wanted) {
    queues.queue(name)!.options = optionsOf(attributes, (arn) => {
      const target = queues.queue(arn.split(':').at(-1)!);
      if (target === undefined) throw new StartError(`The dead letter queue of ${name} is in no stack of the app.`);
      return target;
    });
  }
}
