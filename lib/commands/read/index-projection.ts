import type { Field } from '../attributes/fields.js';
import type { EntityIndex } from '../entity/entity.js';
import { invalid } from '../errors/errors.js';
import type { ConditionNode } from '../expressions/condition.js';
import type { Projection } from './projection.js';
import type { Source } from './reader.js';

/** The members that an index holds; undefined where it holds all of them. */
const projectedMembers = ({ binding, index }: Source): ReadonlySet<string> | undefined => {
  if (index?.project === undefined) return undefined;
  const keys: readonly Field[] = [...binding.entity.model.keyInputs, ...index.pk.inputs, ...(index.sk?.inputs ?? [])];
  return new Set([...keys.map((field) => field.path), ...(index.project === 'keys' ? [] : index.project)]);
};

/** Refuses a filter that would be paid for and change nothing, and one on what the index doesn't hold. */
export const checkFilter = (source: Source, condition: ConditionNode, fixed: readonly Field[]): void => {
  const projected = projectedMembers(source);
  if (condition.asksForItem()) invalid('filter', 'every item that is read exists: filter by another attribute');
  for (const handle of condition.handles()) {
    const member = (handle.top ?? handle).path;
    if (fixed.some((field) => field.path === member)) {
      invalid(member, 'is fixed by the key condition already: filter by something else');
    }
    if (projected?.has(member) === false) {
      invalid(
        member,
        `is not projected into the index ${(source.index as EntityIndex).name}, so a filter can't read it`,
      );
    }
  }
};

/** An index that doesn't project everything gives no whole items. */
export const checkProjection = (source: Source, projection: Projection | undefined): void => {
  const projected = projectedMembers(source);
  if (projected === undefined) return;
  const { selected, members } = projection ?? {};
  const wanted = selected === undefined ? members : [(selected.top ?? selected).path];
  if (wanted === undefined || [...wanted].some((member) => !projected.has(member))) {
    invalid(
      'project',
      `the index ${(source.index as EntityIndex).name} holds only ${[...projected].join(', ')}: project these, or some of them`,
    );
  }
};
