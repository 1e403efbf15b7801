import { UpdateItemCommand, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import type { AttributeMap, AttributeValue } from '../attributes/attribute-value.js';
import { hasMembers } from '../attributes/plain-object.js';
import type { AnyEntity, UpdateText } from '../entity/entity.js';
import { invalid } from '../errors/errors.js';
import { isCondition, type Condition, type Cursor } from '../expressions/condition.js';
import { handleOf } from '../expressions/attribute-methods.js';
import { isNumeric, type Handle, type HandleRef, type ReadableRef, type Writable } from '../expressions/handle.js';
import * as Op from '../expressions/op.js';
import type { ExpressionText } from '../expressions/shape.js';
import * as Token from '../expressions/token.js';
import { checkValueText } from '../expressions/expression-text.js';
import type { SendOptions } from '../send/send-options.js';
import type { Binding } from '../table/table-model.js';
import type { Step } from '../write/step.js';
import { WriteCommand, type BuiltWrite } from '../write/write-command.js';
import type { HasCapacity, HasItem, HasMetrics, HasVersion, NotMet, Written } from '../write/write-results.js';

interface Settable<out N, out V> extends HandleRef<N, V>, Writable {}
interface NumberRef<out N, out V> extends Settable<N, V> {
  readonly '~a': V;
}
interface SetRef<out N, out U> extends Settable<N, ReadonlySet<U>> {
  readonly '~e': ReadonlySet<U>;
}
interface ListRef<out N, out V> extends Settable<N, V> {
  readonly '~l': V;
}

/** The clauses of an update that don't change what it returns. */
export interface UpdateClauses<E extends AnyEntity> {
  /**
   * Sets attributes; `undefined`, and an empty set, remove. A member of a map is set through its handle, and the map
   * must be stored. An attribute that is an input of an index's key is set together with the other inputs.
   */
  set(values: E['~set']): this;
  set<V>(attribute: Settable<E['name'], V>, value: NoInfer<V> | undefined): this;
  set<V>(attribute: Settable<E['name'], V>, value: UpdateText<E['name']>): this;
  /** Sets it unless the value is `undefined`, which changes nothing. */
  setIfDefined<V>(attribute: Settable<E['name'], V>, value: NoInfer<V> | undefined): this;
  /** Sets it only where it is absent (`if_not_exists`). */
  setIfNotExists<V>(attribute: Settable<E['name'], V>, value: NoInfer<V>): this;
  /** Adds to a number; an absent one counts as 0. Not repeatable: see docs/retries.md and `maxAttempts(1)`. */
  add<V>(attribute: NumberRef<E['name'], V>, amount: NoInfer<V>): this;
  /** Adds elements to a set; repeating it changes nothing. */
  add<U>(attribute: SetRef<E['name'], U>, elements: Iterable<NoInfer<U>>): this;
  /** Takes elements out of a set. */
  deleteFrom<U>(attribute: SetRef<E['name'], U>, elements: Iterable<NoInfer<U>>): this;
  /** Appends to a list; an absent one counts as empty. Not repeatable. */
  append<V>(attribute: ListRef<E['name'], V>, elements: NoInfer<V>): this;
  /** Puts elements before those of a list; an absent one counts as empty. Not repeatable. */
  prepend<V>(attribute: ListRef<E['name'], V>, elements: NoInfer<V>): this;
  /** Removes attributes. */
  remove(...attributes: readonly Settable<E['name'], unknown>[]): this;
  /** Adds a condition; conditions join with AND, each in parentheses. */
  if(condition: Condition<E['name']>): this;
  /** Only where an item has this key: without it, an update creates the item from its key and what it names. */
  ifExists(): this;
  /** Only where no item has this key. */
  ifNotExists(): this;
  /** Stores the inputs of the key as attributes, as a put does. */
  storeKeyInputs(): this;
  /** Attempts of the SDK for this command, the first included (docs/retries.md). */
  maxAttempts(attempts: number): this;
}

/**
 * UpdateItem: changes what it names and leaves the rest; creates the item where there is none, unless `ifExists()` or a
 * condition says otherwise. Cost: one write unit per KB of the larger of the item before and after, also where the
 * condition fails.
 *
 * `O` is what a success adds to its result, `F` what a failure adds.
 */
export interface Update<E extends AnyEntity, O, F> extends UpdateClauses<E>, Step<F>, Promise<Written & O> {
  /** The result's `item` is the one before, if there was one. */
  returnOld(): Update<E, O & HasItem<E['~item'] | undefined>, F>;
  /** The result's `item` is the one after. */
  returnNew(): Update<E, O & HasItem<E['~item']>, F>;
  /** The terminal gives this attribute's value after the update. */
  return<V>(attribute: ReadableRef<E['name'], V>): ReturningUpdate<E, V>;
  /** Where the condition fails, `item` is what it saw, at no cost. */
  returnOldOnFailure(): Update<E, O, HasItem<E['~item'] | undefined>>;
  returnCapacity(of?: 'total' | 'indexes'): Update<E, O & HasCapacity, F>;
  returnItemCollectionMetrics(): Update<E, O & HasMetrics, F>;
  /**
   * Sends it.
   * @throws ConditionalCheckFailedException where the condition does not hold
   * @throws InvalidInputError where a path goes through a map or list that is not stored
   */
  send(options?: SendOptions): Promise<Written & O>;
  /** Sends it, and answers a failed condition instead of throwing. */
  trySend(options?: SendOptions): Promise<(Written & O) | (NotMet & F)>;
  /** The SDK's input, instead of sending. */
  toRequest(): UpdateItemCommandInput;
  /** The request as it goes over the wire, instead of sending. */
  toRequestJson(): string;
}

/** The update of an entity with `version()`, before it said what becomes of the version: it can't be sent. */
export interface UnversionedUpdate<E extends AnyEntity, O, F> extends UpdateClauses<E> {
  returnOld(): UnversionedUpdate<E, O & HasItem<E['~item'] | undefined>, F>;
  returnNew(): UnversionedUpdate<E, O & HasItem<E['~item']>, F>;
  returnOldOnFailure(): UnversionedUpdate<E, O, HasItem<E['~item'] | undefined>>;
  returnCapacity(of?: 'total' | 'indexes'): UnversionedUpdate<E, O & HasCapacity, F>;
  returnItemCollectionMetrics(): UnversionedUpdate<E, O & HasMetrics, F>;
  /** Only where this version is stored; stores the next one. */
  ifVersion(version: number): Update<E, O & HasVersion, F>;
  /** Whatever version is stored; adds one to it, so that a copy read before fails its next checked write. */
  ignoreVersion(): Update<E, O, F>;
}

/** An update whose terminal gives one attribute's value. */
export interface ReturningUpdate<E extends AnyEntity, out V> extends UpdateClauses<E>, Promise<V> {
  /**
   * Sends it.
   * @returns the attribute after the update; undefined where it is optional and absent
   * @throws ConditionalCheckFailedException where the condition does not hold
   */
  send(options?: SendOptions): Promise<V>;
  toRequest(): UpdateItemCommandInput;
  toRequestJson(): string;
}

/** The run-time half of {@link Update}. */
export class UpdateCommand extends WriteCommand {
  get kind_() {
    return 'Update' as const;
  }
  protected get sdk_() {
    return UpdateItemCommand;
  }

  private handleOf_(attribute: unknown): Handle {
    const expected = `expected an attribute of ${this.binding_.entity_.model_.name}, such as its attrs have`;
    return this.writable_(handleOf(attribute) ?? invalid('update', expected));
  }

  private writable_(handle: Handle): Handle {
    const { model_: model } = this.binding_.entity_;
    if (handle.entity_ !== model) return invalid(handle.path_, 'is an attribute of another entity');
    if (handle.measuresSize_) return invalid(handle.path_, 'a size can not be written');
    return handle.writable_
      ? handle
      : invalid(handle.path_, 'is an input of the primary key, which an update can not change');
  }

  private isVersion_(handle: Handle): boolean {
    return handle.top_ === undefined && handle.path_ === this.binding_.entity_.model_.version_?.path_;
  }

  private act_(at: Cursor, handle: Handle, operation: number, value?: AttributeValue): void {
    if (operation !== Op.set) {
      if (this.isVersion_(handle)) {
        invalid(handle.path_, 'is the version, which an update can set to a value, and else leaves to the library');
      }
      if (operation === Op.remove && isRequired(handle)) {
        invalid(handle.path_, 'is required, so it can not be removed: the item could not be read any more');
      }
    }
    at.shape_ = at.shape_.step_(handle.number_ * 32 + operation, handle, handle.kept_);
    if (value) at.values_.push(value);
  }

  private setOne_(at: Cursor, handle: Handle, value: unknown): void {
    this.writable_(handle);
    if (isCondition(value)) {
      if (value.token_ !== Token.Text || value.entity_ !== handle.entity_) {
        invalid(handle.path_, 'expected a value, or expression text of this entity');
      }
      checkValueText((value.data_ as ExpressionText).strings_, handle.path_);
      this.act_(at, handle, Op.setText);
      at.shape_ = at.shape_.step_(Token.Text, value.data_, false);
      at.values_.push(...value.values_);
      return;
    }
    const encoded = value === undefined ? undefined : handle.encode_(value);
    // An absent value, or an empty set, which DynamoDB can't store.
    if (!encoded) this.act_(at, handle, Op.remove);
    else {
      this.act_(at, handle, Op.set, encoded);
      if (this.isVersion_(handle)) at.setsVersion_ = value as number;
    }
  }

  set(what: unknown, ...value: [] | [unknown]): this {
    const at = this.cursor_();
    const handle = handleOf(what);
    if (handle) {
      if (value.length === 0) invalid(handle.path_, 'set(attribute, value) takes a value; undefined removes it');
      this.setOne_(at, handle, value[0]);
    } else if (hasMembers(what)) {
      const { model_: model } = this.binding_.entity_;
      for (const name of Object.keys(what)) this.setOne_(at, model.handle_(name), what[name]);
    } else invalid('set', 'expected attributes with their values');
    const { options_: options } = this;
    const { setsVersion_ } = at;
    return this.next_(at, setsVersion_ === undefined ? options : { ...options, setsVersion_ });
  }

  setIfDefined(handle: unknown, value: unknown): this {
    if (value !== undefined) return this.set(handle, value);
    this.handleOf_(handle);
    return this.with_({});
  }

  setIfNotExists(handle: unknown, value: unknown): this {
    const at = this.cursor_();
    const target = this.handleOf_(handle);
    this.act_(at, target, Op.setIfNotExists, target.operand_(value));
    return this.next_(at);
  }

  add(handle: unknown, value: unknown): this {
    return this.amend_(handle, value, Op.add);
  }

  deleteFrom(handle: unknown, value: unknown): this {
    return this.amend_(handle, value, Op.deleteFrom);
  }

  private amend_(handle: unknown, value: unknown, operation: number): this {
    const at = this.cursor_();
    const target = this.handleOf_(handle);
    const { kind_: kind } = target.attribute_.traits_;
    if (kind !== 'set' && !(operation === Op.add && isNumeric(kind))) {
      invalid(target.path_, operation === Op.add ? 'add() takes a number or a set' : 'deleteFrom() takes a set');
    }
    const encoded = target.encode_(value);
    // No element to add or take out: DynamoDB refuses an empty set.
    if (encoded) this.act_(at, target, operation, encoded);
    return this.next_(at);
  }

  append(handle: unknown, elements: unknown): this {
    return this.extend_(handle, elements, Op.append);
  }

  prepend(handle: unknown, elements: unknown): this {
    return this.extend_(handle, elements, Op.prepend);
  }

  private extend_(handle: unknown, elements: unknown, operation: number): this {
    const at = this.cursor_();
    const target = this.handleOf_(handle);
    if (target.attribute_.traits_.kind_ !== 'list') invalid(target.path_, 'append() and prepend() take a list');
    const list = target.operand_(elements);
    const isAppend = operation === Op.append;
    this.act_(at, target, operation, isAppend ? { L: [] } : list);
    at.values_.push(isAppend ? list : { L: [] });
    return this.next_(at);
  }

  remove(...handles: unknown[]): this {
    const at = this.cursor_();
    for (const handle of handles) this.act_(at, this.handleOf_(handle), Op.remove);
    return this.next_(at);
  }

  storeKeyInputs(): this {
    return this.with_({ storeKeyInputs_: true });
  }

  returnNew(): this {
    return this.with_({ returns_: 'ALL_NEW' });
  }

  return(attribute: unknown): this {
    const { model_: model } = this.binding_.entity_;
    const handle = handleOf(attribute);
    if (!handle || handle.entity_ !== model || handle.measuresSize_) {
      return invalid('return', `expected an attribute of ${model.name}`);
    }
    // All of them, unless the update turns out to write the attribute: then UPDATED_NEW holds it.
    return this.with_({ returns_: 'ALL_NEW', returning_: handle });
  }

  protected override build_(at: Cursor): BuiltWrite {
    this.checkVersionDecision_();
    const { entity_: entity } = this.binding_;
    const {
      ifVersion_: ifVersion,
      ignoreVersion_: ignoreVersion,
      storeKeyInputs_: storeKeyInputs,
      setsVersion_: setsVersion,
      returning_: returning,
    } = this.options_;
    const { version_: field } = entity.model_;
    if (storeKeyInputs === true) {
      at.shape_ = at.shape_.step_(Token.StoreKeyInputs);
      const inputs = entity.keyInputs_(this.target_);
      for (const input of entity.model_.keyInputs_)
        at.values_.push(input.encode_(inputs[input.name_]) as AttributeValue);
    }
    // After the caller's actions, so that rendering knows whether they set the version themselves.
    let version = setsVersion;
    if (field && ifVersion !== undefined) {
      at.shape_ = at.shape_.step_(Token.IfVersion);
      at.values_.push(field.encode_(ifVersion) as AttributeValue);
      version = setsVersion ?? ifVersion + 1;
      if (setsVersion === undefined) at.values_.push(field.encode_(version) as AttributeValue);
    } else if (field && ignoreVersion === true) {
      at.shape_ = at.shape_.step_(Token.IgnoreVersion);
      if (setsVersion === undefined) at.values_.push({ N: '0' }, { N: '1' });
    }
    let own = false;
    const request = this.request_(
      at,
      { Key: this.target_ },
      ({ indexKeys_: indexKeys, written_: written, kept_: kept }) => {
        entity.checkKept_(kept, at.values_);
        own = returning !== undefined && written.has(returning);
        const inputs = indexKeys.length > 0 ? entity.keyInputs_(this.target_) : {};
        for (const { template_: template, positions_: positions } of indexKeys) {
          const key = template.ofEncoded_((input) => {
            const position = positions.get(input.name_);
            return position === undefined ? input.encode_(inputs[input.name_]) : at.values_[position];
          });
          at.values_.push({ S: key });
        }
      },
    );
    if (own) request['ReturnValues'] = 'UPDATED_NEW';
    return { request_: request, version_: version };
  }

  override send(options?: SendOptions): Promise<unknown> {
    const sent = super.send(options);
    return this.options_.returning_ ? sent.then((result) => (result as { item: unknown }).item) : sent;
  }

  protected override read_(stored: AttributeMap): unknown {
    const { returning_: returning } = this.options_;
    return returning ? this.binding_.entity_.decodeAt_(stored, returning) : super.read_(stored);
  }
}

/** An update by key: its first value is the type, which it writes if the item has none. */
export const updateOf = (binding: Binding, key: Record<string, unknown>): UpdateCommand => {
  const { entity_: entity } = binding;
  return new UpdateCommand(binding, entity.key_(key), entity.root_, [entity.model_.type_]);
};

const isRequired = ({ attribute_: attribute, parent_: parent }: Handle): boolean => {
  const { optional_: optional, fallback_: fallback, empty_: empty } = attribute.traits_;
  if (parent && parent.attribute_.traits_.kind_ !== 'map') return false;
  return optional !== true && fallback === undefined && empty === undefined;
};
