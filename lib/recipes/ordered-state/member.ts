import type { AttributeValue, ValueHandle } from '../../commands/index.js';
import type { Kind } from '../../commands/attributes/attribute.js';
import type { EntityModel } from '../../commands/entity/entity.js';
import { invalid } from '../../commands/errors/errors.js';

/** One attribute of an entity that is known by its name only. */
export interface Member {
  readonly name: string;
  readonly kind: Kind;
  /** Its conditions, and what updates take it by. */
  readonly attr: ValueHandle<string, unknown>;
  /** Undefined where the value is stored as an absent attribute. */
  readonly encode: (value: unknown) => AttributeValue | undefined;
  /** Whether an item can be read without it. */
  readonly mayBeAbsent: boolean;
  /** Whether a write may leave it out, so that it is absent and reads as undefined. */
  readonly optional: boolean;
  /** Whether an update may set it: it is no input of the key. */
  readonly settable: boolean;
}

/** The attribute of a name; refuses a name that is none. */
export const memberOf = (model: EntityModel, name: string): Member => {
  const field = model.fields_.find((candidate) => candidate.name_ === name);
  if (field === undefined || !Object.hasOwn(model.attrs, name)) {
    return invalid(model.name, 'has no attribute of the name that was given');
  }
  const { kind_: kind, fallback_: fallback, empty_: empty } = field.attribute_.traits_;
  return {
    name,
    kind,
    attr: model.attrs[name] as ValueHandle<string, unknown>,
    encode: field.encode_,
    mayBeAbsent: !field.required_ || fallback !== undefined || empty !== undefined,
    optional: !field.required_,
    settable: !model.keyInputs_.includes(field),
  };
};
