import type { AttributeMap, AttributeValue } from '../attributes/attribute-value.js';
import type { EntityIndex } from '../entity/entity.js';
import type { Binding } from '../table/table-model.js';
import type { Projection } from './projection.js';

/** How stored items become those of a query or scan: one entity's, or those of a collection. */
export interface Reader {
  /** For errors and traces. */
  readonly name_: string;
  /** The types it reads, for DynamoDB to tell them from others. */
  readonly types_: readonly AttributeValue[];
  /** Whether a stored item is one of the read's. */
  owns_(stored: AttributeMap): boolean;
  read_(stored: AttributeMap, projection: Projection | undefined): unknown;
}

/** What a query or scan reads. */
export interface Source {
  readonly binding_: Binding;
  readonly index_: EntityIndex | undefined;
  readonly reader_: Reader;
}

/** Reads one entity. */
export const readerOf = ({ entity_: entity }: Binding): Reader => ({
  name_: entity.model_.name,
  types_: [entity.model_.type_],
  owns_: (stored) => entity.owns_(stored),
  read_: (stored, projection) => {
    const { selected_: selected, members_: members } = projection ?? {};
    return selected ? entity.decodeAt_(stored, selected) : entity.decode_(stored, members);
  },
});
