import type { Field } from '../attributes/fields.js';
import type { EntityIndex } from '../entity/entity.js';
import { invalid } from '../errors/errors.js';
import type { ConditionNode } from '../expressions/condition.js';
import type { Projection } from './projection.js';
import type { Source } from './reader.js';

/** The members that an index holds; undefined where it holds all of them. */
const projectedMembers = ({ binding_: binding, index_: index }: Source): ReadonlySet<string> | undefined => {
  if (!index?.project_) return undefined;
  const keys = [...binding.entity_.model_.keyInputs_, ...index.keyInputs_];
  return new Set([...keys.map((field) => field.path_), ...(index.project_ === 'keys' ? [] : index.project_)]);
};

/** Refuses a filter that would be paid for and change nothing, and one on what the index doesn't hold. */
export const checkFilter = (source: Source, condition: ConditionNode, fixed: readonly Field[]): void => {
  const projected = projectedMembers(source);
  if (condition.asksForItem_()) invalid('filter', 'every item that is read exists: filter by another attribute');
  for (const handle of condition.handles_()) {
    const member = (handle.top_ ?? handle).path_;
    if (fixed.some((field) => field.path_ === member)) {
      invalid(member, 'is fixed by the key condition already: filter by something else');
    }
    if (projected?.has(member) === false) {
      invalid(
        member,
        `is not projected into the index ${(source.index_ as EntityIndex).name_}, so a filter can't read it`,
      );
    }
  }
};

/** An index that doesn't project everything gives no whole items. */
export const checkProjection = (source: Source, projection: Projection | undefined): void => {
  const projected = projectedMembers(source);
  if (!projected) return;
  const { selected_: selected, members_: members } = projection ?? {};
  const wanted = selected ? [(selected.top_ ?? selected).path_] : members;
  if (!wanted || [...wanted].some((member) => !projected.has(member))) {
    invalid(
      'project',
      `the index ${(source.index_ as EntityIndex).name_} holds only ${[...projected].join(', ')}: project these, or some of them`,
    );
  }
};
