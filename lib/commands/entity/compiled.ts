import type { AttributeMap, AttributeValue } from '../attributes/attribute-value.js';
import { weight } from '../attributes/attribute-value.js';
import { absentValue, objectEncoder, storedValue, type EncodeObject, type Field } from '../attributes/fields.js';
import { itemSize, valueSize } from '../attributes/item-size.js';
import { InvalidStoredItemError, LimitExceededError, corrupt, invalid } from '../errors/errors.js';
import type { Handle } from '../expressions/handle.js';
import { Shape } from '../expressions/shape.js';
import type { KeyTemplate } from '../keys/key-template.js';
import type { EntityIndex, EntityModel } from './entity.js';

/** How a table names the attributes that the library writes itself. */
export interface Naming {
  readonly pk: string;
  readonly sk: string | undefined;
  readonly type: string;
  readonly timeToLive: string;
  readonly indexes: Readonly<Record<string, IndexNaming>>;
}

/** The key attributes of an index. */
export interface IndexNaming {
  readonly pk: string;
  readonly sk: string | undefined;
}

const maximumItemBytes = 409_600;
/** A partition and a sort key with their names. */
const mostOfAKey = 2048 + 1024 + 2 * 255 + 512;

/** An attribute that holds a key. */
export interface StoredKey {
  readonly name_: string;
  readonly template_: KeyTemplate;
}

/** An entity compiled for one table's naming; shared by all tables that name alike. */
export class CompiledEntity {
  readonly fields_: readonly Field[];
  readonly root_ = Shape.root_();
  /** The entity's indexes, each with the attributes that are stored for it. */
  readonly indexKeys_: readonly { readonly index_: EntityIndex; readonly keys_: readonly StoredKey[] }[];
  /** The attributes that hold a key, of the table and of indexes. */
  private readonly storedKeys_: readonly StoredKey[];
  private readonly encodeObject_: EncodeObject;
  /** Up to this many bytes of attributes, an item is within the limit whatever its keys are. */
  private readonly certainlyFits_: number;

  constructor(
    readonly model_: EntityModel,
    readonly naming_: Naming,
  ) {
    this.fields_ = model_.fields_.map((field) => ({ ...field, stored_: this.storedName_(field) }));
    const own = [
      naming_.pk,
      naming_.sk,
      naming_.type,
      ...Object.values(naming_.indexes).flatMap((index) => [index.pk, index.sk]),
    ];
    for (const field of this.fields_) {
      if (own.includes(field.stored_)) {
        invalid(field.path_, 'has the stored name of a key, index key or type attribute of the table: use savedAs()');
      }
      if (field.stored_ === naming_.timeToLive && field.attribute_.traits_.timeToLive_ !== true) {
        invalid(field.path_, "has the stored name of the table's time to live: use timeToLive() or savedAs()");
      }
    }
    if ((model_.sk === undefined) !== (naming_.sk === undefined)) {
      invalid(model_.name, model_.sk ? 'has a sort key, but the table has none' : 'has no sort key, but the table has');
    }
    this.indexKeys_ = this.compileIndexKeys_();
    this.storedKeys_ = [
      { name_: naming_.pk, template_: model_.pk },
      ...(model_.sk ? [{ name_: naming_.sk as string, template_: model_.sk }] : []),
      ...this.indexKeys_.flatMap(({ keys_: keys }) => keys),
    ];
    this.certainlyFits_ = maximumItemBytes - (this.indexKeys_.length + 1) * mostOfAKey;
    this.encodeObject_ = objectEncoder(this.fields_, model_.name);
  }

  /** A local index shares the table's partition key; no other attribute can hold two keys. */
  private compileIndexKeys_(): CompiledEntity['indexKeys_'] {
    const { model_: model, naming_: naming } = this;
    const own = new Map([[naming.pk, model.pk.text_]]);
    if (naming.sk !== undefined && model.sk) own.set(naming.sk, model.sk.text_);
    const taken = new Set<string>();
    return model.indexes_.map((index) => {
      const where = `${model.name}.${index.name_}`;
      const names = Object.hasOwn(naming.indexes, index.name_) ? naming.indexes[index.name_] : undefined;
      if (!names) return invalid(model.name, `uses the index ${index.name_}, which the table does not have`);
      if (!index.sk && names.sk !== undefined) invalid(where, "has no sort key, but the table's index has");
      const keys: StoredKey[] = [{ name_: names.pk, template_: index.pk }];
      if (index.sk) {
        keys.push({
          name_: names.sk ?? invalid(where, "has a sort key, but the table's index has none"),
          template_: index.sk,
        });
      }
      for (const { name_: name, template_: template } of keys) {
        const text = own.get(name);
        if (text !== undefined && text !== template.text_)
          invalid(where, 'has a key that is also one of the table, where the entity gives it another form');
        if (text === undefined && taken.has(name))
          invalid(where, 'has a key that is stored where that of another index is');
        taken.add(name);
      }
      return { index_: index, keys_: keys.filter(({ name_: name }) => !own.has(name)) };
    });
  }

  /** The compiled form of an entity under a naming, made once. */
  static of_(model: EntityModel, naming: Naming): CompiledEntity {
    const id = JSON.stringify(naming);
    let compiled = model.compiled_.get(id) as CompiledEntity | undefined;
    if (!compiled) model.compiled_.set(id, (compiled = new CompiledEntity(model, naming)));
    return compiled;
  }

  /** The time to live is stored where the table looks for it, unless the entity says otherwise. */
  storedName_(field: { readonly attribute_: Field['attribute_']; readonly stored_: string }): string {
    const { timeToLive_: timeToLive, savedAs_: savedAs } = field.attribute_.traits_;
    return timeToLive === true && savedAs === undefined ? this.naming_.timeToLive : field.stored_;
  }

  /** The stored primary key. */
  key_(values: Record<string, unknown>): AttributeMap {
    const { pk, sk } = this.model_;
    const key: AttributeMap = { [this.naming_.pk]: { S: pk.of(values) } };
    if (sk) key[this.naming_.sk as string] = { S: sk.of(values) };
    return key;
  }

  /** The inputs of a stored primary key: as they were when it was made, whatever became of the object since. */
  keyInputs_(key: AttributeMap): Record<string, unknown> {
    const { pk, sk } = this.model_;
    const values = pk.parse(key[this.naming_.pk]?.S as string);
    return sk ? { ...values, ...sk.parse(key[this.naming_.sk as string]?.S as string) } : values;
  }

  /** The whole stored item, keys, type and index keys included. */
  encode_(item: Record<string, unknown>): AttributeMap {
    const { model_: model, naming_: naming } = this;
    const out = this.key_(item);
    out[naming.type] = model.type_;
    weight.units = 0;
    // A row of a collection carries its type: it may be put back as it is.
    this.encodeObject_(item, out, item['_type'] === model.name ? 1 : 0);
    for (const { index_: index, keys_: keys } of this.indexKeys_) {
      const encoded = (field: Field): AttributeValue | undefined => storedValue(out, field);
      // An item that lacks an input is not in the index at all.
      if (index.keyInputs_.some((field) => encoded(field) === undefined)) continue;
      for (const { name_: name, template_: template } of keys) out[name] = { S: template.ofEncoded_(encoded) };
    }
    this.checkSize_(out);
    return out;
  }

  private checkSize_(item: AttributeMap): void {
    if (weight.units * 3 > this.certainlyFits_) this.refuseAbove_(itemSize(item));
  }

  /** Refuses values of an update that no item can hold; how much else is stored, only DynamoDB knows. */
  checkKept_(positions: readonly number[], values: readonly AttributeValue[]): void {
    let most = 0;
    // Text takes at most three bytes per UTF-16 unit, a number at most three per character; counting exactly takes longer.
    for (const position of positions) {
      const value = values[position] as AttributeValue;
      const text = value.S ?? value.N;
      most += text === undefined ? valueSize(value) : text.length * 3;
    }
    if (most > maximumItemBytes)
      this.refuseAbove_(positions.reduce((size, position) => size + valueSize(values[position] as AttributeValue), 0));
  }

  private refuseAbove_(size: number): void {
    if (size > maximumItemBytes) {
      throw new LimitExceededError(
        this.model_.name,
        `the item has ${size} bytes, more than DynamoDB's ${maximumItemBytes}`,
      );
    }
  }

  /** The item as the entity's type; refuses an item of another entity, and one that does not match. */
  decode_(stored: AttributeMap, only?: ReadonlySet<string>): Record<string, unknown> {
    const type = stored[this.naming_.type];
    if (type && type.S !== this.model_.name) {
      throw new InvalidStoredItemError(this.model_.name, 'the stored item is of another entity');
    }
    const out: Record<string, unknown> = {};
    for (const field of this.fields_) {
      if (only && !only.has(field.name_)) continue;
      const value = storedValue(stored, field);
      if (value) out[field.name_] = field.decode_(value);
      else {
        const absent = this.absent_(field, stored);
        if (absent !== undefined) out[field.name_] = absent;
      }
    }
    if (!only) this.refuseForeignInputs_(stored, out);
    return out;
  }

  /** An item whose inputs say another key would be put back over that other item. */
  private refuseForeignInputs_(stored: AttributeMap, item: Record<string, unknown>): void {
    const { model_: model, naming_: naming } = this;
    const isOf = (template: KeyTemplate | undefined, name: string | undefined): boolean => {
      const key = name === undefined ? undefined : stored[name]?.S;
      // An input that is not stored was read from one of the keys, and may be another in the other.
      return key === undefined || (template?.agrees_(stored, key) ?? template?.makes_(item, key)) === true;
    };
    if (!isOf(model.pk, naming.pk) || !isOf(model.sk, naming.sk))
      corrupt(model.name, 'the key that its attributes make');
  }

  /** The value of one attribute, or of a part inside one; undefined where it may be absent and is. */
  decodeAt_(stored: AttributeMap, handle: Handle): unknown {
    const value = this.storedAt_(stored, handle);
    if (value) return handle.decode_(value);
    const { parent_: parent } = handle;
    if (!parent) return this.absent_(this.fieldOf_(handle), stored);
    if (!this.storedAt_(stored, parent)) {
      const around = this.decodeAt_(stored, parent) as Record<string, unknown> | undefined;
      return around?.[handle.member_];
    }
    // An element that a list or record does not have, or a member that is missing from its map.
    if (parent.attribute_.traits_.kind_ !== 'map') return undefined;
    const { attribute_: attribute } = handle;
    const required = attribute.traits_.optional_ !== true;
    return (
      absentValue({ attribute_: attribute, required_: required }) ??
      (required ? corrupt(handle.path_, 'a value') : undefined)
    );
  }

  private fieldOf_(handle: Handle): Field {
    return this.fields_.find((field) => field.path_ === handle.path_) as Field;
  }

  private storedAt_(stored: AttributeMap, handle: Handle): AttributeValue | undefined {
    if (!handle.parent_) return storedValue(stored, this.fieldOf_(handle));
    const around = this.storedAt_(stored, handle.parent_);
    const step = handle.steps_.at(-1) as string | number;
    if (typeof step === 'number') return around?.L?.[step];
    return around?.M && Object.hasOwn(around.M, step) ? around.M[step] : undefined;
  }

  private absent_(field: Field, stored: AttributeMap): unknown {
    const value = absentValue(field) ?? this.fromKey_(field, stored);
    return value === undefined && field.required_ ? corrupt(`${this.model_.name}.${field.path_}`, 'a value') : value;
  }

  /**
   * An update that creates an item may leave the inputs of its key out, and an index may hold nothing but keys: the keys
   * still say them.
   */
  private fromKey_(field: Field, stored: AttributeMap): unknown {
    for (const { name_: name, template_: template } of this.storedKeys_) {
      if (!template.inputs_.some((input) => input.name_ === field.name_)) continue;
      const value = template.tryParse_(stored[name]?.S ?? '')?.[field.name_];
      if (value !== undefined) return value;
    }
    return undefined;
  }

  /** Whether a stored item is one of this entity's: by its type, else by its key. */
  owns_(stored: AttributeMap): boolean {
    const { model_: model, naming_: naming } = this;
    const type = stored[naming.type];
    if (type) return type.S === model.name;
    const sk = naming.sk === undefined ? undefined : (stored[naming.sk]?.S ?? '');
    return (
      model.pk.tryParse_(stored[naming.pk]?.S ?? '') !== undefined &&
      (sk === undefined || model.sk?.tryParse_(sk) !== undefined)
    );
  }
}
