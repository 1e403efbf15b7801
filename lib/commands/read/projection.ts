import type { Field } from '../attributes/fields.js';
import { invalid } from '../errors/errors.js';
import { handleOf } from '../expressions/attribute-methods.js';
import type { Handle } from '../expressions/handle.js';
import type { CompiledEntity } from '../entity/compiled.js';

/** What a read fetches: whole members by name, or one attribute by handle. */
export interface Projection {
  readonly expression_: string;
  readonly names_: Readonly<Record<string, string>>;
  readonly members_: ReadonlySet<string> | undefined;
  readonly selected_: Handle | undefined;
}

/** Fetches members; the stored type and key come along, since decoding looks at them. */
export const projectMembers = (entity: CompiledEntity, members: readonly string[]): Projection => {
  if (members.length === 0) invalid('project', 'expected the names of attributes');
  const stored = members.map((name) => {
    entity.model_.handle_(name);
    return (entity.fields_.find((field) => field.name_ === name) as Field).stored_;
  });
  const { pk, sk, type } = entity.naming_;
  return {
    ...toExpression([pk, ...(sk === undefined ? [] : [sk]), type, ...stored]),
    members_: new Set(members),
    selected_: undefined,
  };
};

/** Fetches what one handle names. */
export const projectHandle = (entity: CompiledEntity, attribute: unknown): Projection => {
  const handle = handleOf(attribute);
  if (!handle || handle.entity_ !== entity.model_ || handle.measuresSize_) {
    return invalid('select', `expected an attribute of ${entity.model_.name}`);
  }
  const top = handle.top_ ?? handle;
  const field = entity.fields_.find((candidate) => candidate.path_ === top.path_) as Field;
  // A list element would come back at another index, so the whole attribute is fetched.
  const { pk, sk } = entity.naming_;
  return {
    ...toExpression([pk, ...(sk === undefined ? [] : [sk]), field.stored_]),
    members_: undefined,
    selected_: handle,
  };
};

const toExpression = (stored: readonly string[]): Pick<Projection, 'expression_' | 'names_'> => {
  const names: Record<string, string> = {};
  const aliases = [...new Set(stored)].map((name, i) => {
    names[`#p${i}`] = name;
    return `#p${i}`;
  });
  return { expression_: aliases.join(', '), names_: names };
};
