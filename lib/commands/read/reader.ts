import type { AttributeMap, AttributeValue } from '../attributes/attribute-value.js';
import type { EntityIndex } from '../entity/entity.js';
import type { Binding } from '../table/table-model.js';
import type { Projection } from './projection.js';

/** How stored items become those of a query or scan: one entity's, or those of a collection. */
export interface Reader {
  /** For errors and traces. */
  readonly name: string;
  /** The types it reads, for DynamoDB to tell them from others. */
  readonly types: readonly AttributeValue[];
  /** Whether a stored item is one of the read's. */
  owns(stored: AttributeMap): boolean;
  read(stored: AttributeMap, projection: Projection | undefined): unknown;
}

/** What a query or scan reads. */
export interface Source {
  readonly binding: Binding;
  readonly index: EntityIndex | undefined;
  readonly reader: Reader;
}

/** Reads one entity. */
export const readerOf = ({ entity }: Binding): Reader => ({
  name: entity.model.name,
  types: [entity.model.type],
  owns: (stored) => entity.owns(stored),
  read: (stored, projection) => {
    const { selected, members } = projection ?? {};
    return selected === undefined ? entity.decode(stored, members) : entity.decodeAt(stored, selected);
  },
});
