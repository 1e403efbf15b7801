import type { AttributeMap, AttributeValue } from '../attributes/attribute-value.js';
import { weight } from '../attributes/attribute-value.js';
import { absentValue, objectEncoder, type EncodeObject, type Field } from '../attributes/fields.js';
import { itemSize } from '../attributes/item-size.js';
import { InvalidStoredItemError, LimitExceededError, corrupt, invalid } from '../errors/errors.js';
import type { Handle } from '../expressions/handle.js';
import { Shape } from '../expressions/shape.js';
import type { EntityModel } from './entity.js';

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

/** An entity compiled for one table's naming; shared by all tables that name alike. */
export class CompiledEntity {
  readonly fields: readonly Field[];
  readonly root = Shape.root();
  private readonly encodeObject: EncodeObject;

  constructor(
    readonly model: EntityModel,
    readonly naming: Naming,
  ) {
    this.fields = model.fields.map((field) => ({ ...field, stored: this.storedName(field) }));
    const own = [
      naming.pk,
      naming.sk,
      naming.type,
      ...Object.values(naming.indexes).flatMap((index) => [index.pk, index.sk]),
    ];
    for (const field of this.fields) {
      if (own.includes(field.stored)) {
        invalid(field.path, 'has the stored name of a key, index key or type attribute of the table: use savedAs()');
      }
      if (field.stored === naming.timeToLive && field.attribute.traits.timeToLive !== true) {
        invalid(field.path, "has the stored name of the table's time to live: use timeToLive() or savedAs()");
      }
    }
    for (const { name } of model.indexes) {
      if (naming.indexes[name] === undefined)
        invalid(model.name, `uses the index ${name}, which the table does not have`);
    }
    if ((model.sk === undefined) !== (naming.sk === undefined)) {
      invalid(
        model.name,
        model.sk === undefined ? 'has no sort key, but the table has' : 'has a sort key, but the table has none',
      );
    }
    this.encodeObject = objectEncoder(this.fields, model.name);
  }

  /** The compiled form of an entity under a naming, made once. */
  static of(model: EntityModel, naming: Naming): CompiledEntity {
    const id = JSON.stringify(naming);
    let compiled = model.compiled.get(id) as CompiledEntity | undefined;
    if (compiled === undefined) model.compiled.set(id, (compiled = new CompiledEntity(model, naming)));
    return compiled;
  }

  /** The time to live is stored where the table looks for it, unless the entity says otherwise. */
  storedName(field: { readonly attribute: Field['attribute']; readonly stored: string }): string {
    const { timeToLive, savedAs } = field.attribute.traits;
    return timeToLive === true && savedAs === undefined ? this.naming.timeToLive : field.stored;
  }

  /** The stored primary key. */
  key(values: Record<string, unknown>): AttributeMap {
    const { pk, sk } = this.model;
    if (typeof values !== 'object' || values === null)
      return invalid(this.model.name, 'expected an object with the inputs of its key');
    const key: AttributeMap = { [this.naming.pk]: { S: pk.of(values) } };
    if (sk !== undefined) key[this.naming.sk as string] = { S: sk.of(values) };
    return key;
  }

  /** The whole stored item, keys, type and index keys included. */
  encode(item: Record<string, unknown>): AttributeMap {
    const { model, naming } = this;
    const out = this.key(item);
    out[naming.type] = model.type;
    weight.units = 0;
    // A row of a collection carries its type: it may be put back as it is.
    this.encodeObject(item, out, item['_type'] === model.name ? 1 : 0);
    for (const index of model.indexes) {
      const names = naming.indexes[index.name] as IndexNaming;
      const encoded = (field: Field): AttributeValue | undefined => out[this.storedName(field)];
      const pk = index.pk.ofEncoded(encoded);
      const sk = index.sk?.ofEncoded(encoded);
      if (pk === undefined || (index.sk !== undefined && sk === undefined)) continue;
      out[names.pk] = { S: pk };
      if (sk !== undefined) out[names.sk as string] = { S: sk };
    }
    this.checkSize(out);
    return out;
  }

  checkSize(item: AttributeMap): void {
    if (weight.units * 3 > maximumItemBytes - 16_384) {
      const size = itemSize(item);
      if (size > maximumItemBytes) {
        throw new LimitExceededError(
          this.model.name,
          `the item has ${size} bytes, more than DynamoDB's ${maximumItemBytes}`,
        );
      }
    }
  }

  /** The item as the entity's type; refuses an item of another entity, and one that does not match. */
  decode(stored: AttributeMap, only?: ReadonlySet<string>): Record<string, unknown> {
    const type = stored[this.naming.type];
    if (type !== undefined && type.S !== this.model.name) {
      throw new InvalidStoredItemError(this.model.name, 'the stored item is of another entity');
    }
    const out: Record<string, unknown> = {};
    for (const field of this.fields) {
      if (only !== undefined && !only.has(field.name)) continue;
      const value = stored[field.stored];
      if (value !== undefined) out[field.name] = field.decode(value);
      else {
        const absent = absentValue(field) ?? this.fromKey(field, stored);
        if (absent !== undefined) out[field.name] = absent;
        else if (field.required) corrupt(`${this.model.name}.${field.path}`, 'a value');
      }
    }
    return out;
  }

  /** The value of one attribute, or of a part inside one. */
  decodeAt(stored: AttributeMap, handle: Handle): unknown {
    const top = handle.top ?? handle;
    const field = this.fields.find((candidate) => candidate.path === top.path) as Field;
    let value = stored[field.stored];
    for (const step of handle.steps.slice(1)) value = typeof step === 'number' ? value?.L?.[step] : value?.M?.[step];
    if (value !== undefined) return handle.decode(value);
    return handle.top === undefined ? (absentValue(field) ?? this.fromKey(field, stored)) : undefined;
  }

  /** An update that creates an item may leave the inputs of its key out: the key still says them. */
  private fromKey(field: Field, stored: AttributeMap): unknown {
    const { model, naming } = this;
    if (!model.keyInputs.some((input) => input.name === field.name)) return undefined;
    const pk = stored[naming.pk]?.S;
    const sk = naming.sk === undefined ? undefined : stored[naming.sk]?.S;
    const value = pk === undefined ? undefined : model.pk.tryParse(pk)?.[field.name];
    return value ?? (sk === undefined ? undefined : model.sk?.tryParse(sk)?.[field.name]);
  }

  /** Whether a stored item is one of this entity's: by its type, else by its key. */
  owns(stored: AttributeMap): boolean {
    const { model, naming } = this;
    const type = stored[naming.type];
    if (type !== undefined) return type.S === model.name;
    const sk = naming.sk === undefined ? undefined : (stored[naming.sk]?.S ?? '');
    return (
      model.pk.tryParse(stored[naming.pk]?.S ?? '') !== undefined &&
      (sk === undefined || model.sk?.tryParse(sk) !== undefined)
    );
  }
}
