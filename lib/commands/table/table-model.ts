import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { invalid } from '../errors/errors.js';
import { CompiledEntity, type Naming } from '../entity/compiled.js';
import { modelOf, type EntityModel } from '../entity/entity.js';

/** The run-time half of a table: its name, client and naming, and the entities bound to it. */
export class TableModel {
  private readonly bound = new Map<string, EntityModel>();

  constructor(
    readonly name: string,
    readonly client: DynamoDBClient,
    readonly naming: Naming,
  ) {}

  /** Refuses an entity whose keys could be those of another one here: their items would overwrite each other. */
  bind(entity: unknown): Binding {
    const model = modelOf(entity);
    for (const other of this.bound.values()) {
      if (other === model) break;
      if (other.name === model.name) {
        // The same entity from two modules or copies is one; another one of its name would read its items.
        if (other.pk.text !== model.pk.text || other.sk?.text !== model.sk?.text) {
          invalid(model.name, 'another entity of this table has this name and other keys');
        }
      } else if (model.meets(other)) {
        invalid(model.name, `a key of it could also be a key of ${other.name}: give one of them another prefix`);
      }
    }
    const compiled = CompiledEntity.of(model, this.naming);
    this.bound.set(model.name, model);
    return { table: this, entity: compiled };
  }
}

/** An entity on a table: what a command needs to be built and sent. */
export interface Binding {
  readonly table: TableModel;
  readonly entity: CompiledEntity;
}
