import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { invalid } from '../errors/errors.js';
import { CompiledEntity, type Naming } from '../entity/compiled.js';
import { modelOf, type EntityModel } from '../entity/entity.js';

/** The run-time half of a table: its name, client and naming, and the entities bound to it. */
export class TableModel {
  private readonly bound_ = new Map<string, EntityModel>();

  constructor(
    readonly name_: string,
    readonly client_: DynamoDBClient,
    readonly naming_: Naming,
  ) {}

  /** Refuses an entity whose keys could be those of another one here: their items would overwrite each other. */
  bind_(entity: unknown): Binding {
    const model = modelOf(entity);
    for (const other of this.bound_.values()) {
      if (other === model) break;
      if (other.name === model.name) {
        // The same entity from two modules or copies is one; another one of its name would read its items.
        if (other.pk.text_ !== model.pk.text_ || other.sk?.text_ !== model.sk?.text_) {
          invalid(model.name, 'another entity of this table has this name and other keys');
        }
      } else if (model.meets_(other)) {
        invalid(model.name, `a key of it could also be a key of ${other.name}: give one of them another prefix`);
      }
    }
    const compiled = CompiledEntity.of_(model, this.naming_);
    this.bound_.set(model.name, model);
    return { table_: this, entity_: compiled };
  }
}

/** An entity on a table: what a command needs to be built and sent. */
export interface Binding {
  readonly table_: TableModel;
  readonly entity_: CompiledEntity;
}
