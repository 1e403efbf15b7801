import { invalid } from '../errors/errors.js';
import { handleOf } from '../expressions/attribute-methods.js';
import type { Handle } from '../expressions/handle.js';
import type { CompiledEntity } from '../entity/compiled.js';

/** What a read fetches: whole members by name, or one attribute by handle. */
export interface Projection {
  readonly expression: string;
  readonly names: Readonly<Record<string, string>>;
  readonly members: ReadonlySet<string> | undefined;
  readonly selected: Handle | undefined;
}

/** Fetches members; the stored type and key come along, since decoding looks at them. */
export const projectMembers = (entity: CompiledEntity, members: readonly string[]): Projection => {
  if (members.length === 0) invalid('project', 'expected the names of attributes');
  const stored = members.map((name) => {
    entity.model.handle(name);
    return (entity.fields.find((field) => field.name === name) as { stored: string }).stored;
  });
  const { pk, sk, type } = entity.naming;
  return {
    ...toExpression([pk, ...(sk === undefined ? [] : [sk]), type, ...stored]),
    members: new Set(members),
    selected: undefined,
  };
};

/** Fetches what one handle names. */
export const projectHandle = (entity: CompiledEntity, attribute: unknown): Projection => {
  const handle = handleOf(attribute);
  if (handle === undefined || handle.entity !== entity.model || handle.measuresSize) {
    return invalid('select', `expected an attribute of ${entity.model.name}`);
  }
  const top = handle.top ?? handle;
  const field = entity.fields.find((candidate) => candidate.path === top.path) as { stored: string };
  // A list element would come back at another index, so the whole attribute is fetched.
  const { pk, sk } = entity.naming;
  return {
    ...toExpression([pk, ...(sk === undefined ? [] : [sk]), field.stored]),
    members: undefined,
    selected: handle,
  };
};

const toExpression = (stored: readonly string[]): { expression: string; names: Record<string, string> } => {
  const names: Record<string, string> = {};
  const aliases = [...new Set(stored)].map((name, i) => {
    names[`#p${i}`] = name;
    return `#p${i}`;
  });
  return { expression: aliases.join(', '), names };
};
