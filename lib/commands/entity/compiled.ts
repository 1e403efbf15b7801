import type { AttributeMap, AttributeValue } from '../attributes/attribute-value.js';
import { weight } from '../attributes/attribute-value.js';
import { absentValue, objectEncoder, storedValue, type EncodeObject, type Field } from '../attributes/fields.js';
import { itemSize } from '../attributes/item-size.js';
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
  readonly name: string;
  readonly template: KeyTemplate;
}

/** An entity compiled for one table's naming; shared by all tables that name alike. */
export class CompiledEntity {
  readonly fields: readonly Field[];
  readonly root = Shape.root();
  /** The entity's indexes, each with the attributes that are stored for it. */
  readonly indexKeys: readonly { readonly index: EntityIndex; readonly keys: readonly StoredKey[] }[];
  /** The attributes that hold a key, of the table and of indexes. */
  private readonly storedKeys: readonly StoredKey[];
  private readonly encodeObject: EncodeObject;
  /** Up to this many bytes of attributes, an item is within the limit whatever its keys are. */
  private readonly certainlyFits: number;

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
    if ((model.sk === undefined) !== (naming.sk === undefined)) {
      invalid(
        model.name,
        model.sk === undefined ? 'has no sort key, but the table has' : 'has a sort key, but the table has none',
      );
    }
    this.indexKeys = this.compileIndexKeys();
    this.storedKeys = [
      { name: naming.pk, template: model.pk },
      ...(model.sk === undefined ? [] : [{ name: naming.sk as string, template: model.sk }]),
      ...this.indexKeys.flatMap(({ keys }) => keys),
    ];
    this.certainlyFits = maximumItemBytes - (this.indexKeys.length + 1) * mostOfAKey;
    this.encodeObject = objectEncoder(this.fields, model.name);
  }

  /** A local index shares the table's partition key; no other attribute can hold two keys. */
  private compileIndexKeys(): CompiledEntity['indexKeys'] {
    const { model, naming } = this;
    const own = new Map([[naming.pk, model.pk.text]]);
    if (naming.sk !== undefined && model.sk !== undefined) own.set(naming.sk, model.sk.text);
    const taken = new Set<string>();
    return model.indexes.map((index) => {
      const where = `${model.name}.${index.name}`;
      const names = Object.hasOwn(naming.indexes, index.name) ? naming.indexes[index.name] : undefined;
      if (names === undefined)
        return invalid(model.name, `uses the index ${index.name}, which the table does not have`);
      if (index.sk === undefined && names.sk !== undefined)
        invalid(where, "has no sort key, but the table's index has");
      const keys: StoredKey[] = [{ name: names.pk, template: index.pk }];
      if (index.sk !== undefined) {
        keys.push({
          name: names.sk ?? invalid(where, "has a sort key, but the table's index has none"),
          template: index.sk,
        });
      }
      for (const { name, template } of keys) {
        const text = own.get(name);
        if (text !== undefined && text !== template.text)
          invalid(where, 'has a key that is also one of the table, where the entity gives it another form');
        if (text === undefined && taken.has(name))
          invalid(where, 'has a key that is stored where that of another index is');
        taken.add(name);
      }
      return { index, keys: keys.filter(({ name }) => !own.has(name)) };
    });
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
    const key: AttributeMap = { [this.naming.pk]: { S: pk.of(values) } };
    if (sk !== undefined) key[this.naming.sk as string] = { S: sk.of(values) };
    return key;
  }

  /** The inputs of a stored primary key: as they were when it was made, whatever became of the object since. */
  keyInputs(key: AttributeMap): Record<string, unknown> {
    const { pk, sk } = this.model;
    const values = pk.parse(key[this.naming.pk]?.S as string);
    return sk === undefined ? values : { ...values, ...sk.parse(key[this.naming.sk as string]?.S as string) };
  }

  /** The whole stored item, keys, type and index keys included. */
  encode(item: Record<string, unknown>): AttributeMap {
    const { model, naming } = this;
    const out = this.key(item);
    out[naming.type] = model.type;
    weight.units = 0;
    // A row of a collection carries its type: it may be put back as it is.
    this.encodeObject(item, out, item['_type'] === model.name ? 1 : 0);
    for (const { index, keys } of this.indexKeys) {
      const encoded = (field: Field): AttributeValue | undefined => storedValue(out, field);
      // An item that lacks an input is not in the index at all.
      if ([...index.pk.inputs, ...(index.sk?.inputs ?? [])].some((field) => encoded(field) === undefined)) continue;
      for (const { name, template } of keys) out[name] = { S: template.ofEncoded(encoded) };
    }
    this.checkSize(out);
    return out;
  }

  checkSize(item: AttributeMap): void {
    if (weight.units * 3 > this.certainlyFits) {
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
      const value = storedValue(stored, field);
      if (value !== undefined) out[field.name] = field.decode(value);
      else {
        const absent = this.absent(field, stored);
        if (absent !== undefined) out[field.name] = absent;
      }
    }
    if (only === undefined) this.refuseForeignInputs(stored);
    return out;
  }

  /** An item whose inputs say another key would be put back over that other item. */
  private refuseForeignInputs(stored: AttributeMap): void {
    const { model, naming } = this;
    const pk = stored[naming.pk]?.S;
    const sk = naming.sk === undefined ? undefined : stored[naming.sk]?.S;
    if (
      (pk === undefined || model.pk.agrees(stored, pk)) &&
      (sk === undefined || model.sk?.agrees(stored, sk) === true)
    )
      return;
    corrupt(model.name, 'the key that its attributes make');
  }

  /** The value of one attribute, or of a part inside one; undefined where it may be absent and is. */
  decodeAt(stored: AttributeMap, handle: Handle): unknown {
    const value = this.storedAt(stored, handle);
    if (value !== undefined) return handle.decode(value);
    const { parent } = handle;
    if (parent === undefined) return this.absent(this.fieldOf(handle), stored);
    if (this.storedAt(stored, parent) === undefined) {
      const around = this.decodeAt(stored, parent) as Record<string, unknown> | undefined;
      return around?.[handle.member];
    }
    // An element that a list or record does not have, or a member that is missing from its map.
    if (parent.attribute.traits.kind !== 'map') return undefined;
    const { attribute } = handle;
    const required = attribute.traits.optional !== true;
    return absentValue({ attribute, required }) ?? (required ? corrupt(handle.path, 'a value') : undefined);
  }

  private fieldOf(handle: Handle): Field {
    return this.fields.find((field) => field.path === handle.path) as Field;
  }

  private storedAt(stored: AttributeMap, handle: Handle): AttributeValue | undefined {
    if (handle.parent === undefined) return storedValue(stored, this.fieldOf(handle));
    const around = this.storedAt(stored, handle.parent);
    const step = handle.steps.at(-1) as string | number;
    if (typeof step === 'number') return around?.L?.[step];
    return around?.M !== undefined && Object.hasOwn(around.M, step) ? around.M[step] : undefined;
  }

  private absent(field: Field, stored: AttributeMap): unknown {
    const value = absentValue(field) ?? this.fromKey(field, stored);
    return value === undefined && field.required ? corrupt(`${this.model.name}.${field.path}`, 'a value') : value;
  }

  /**
   * An update that creates an item may leave the inputs of its key out, and an index may hold nothing but keys: the keys
   * still say them.
   */
  private fromKey(field: Field, stored: AttributeMap): unknown {
    for (const { name, template } of this.storedKeys) {
      if (!template.inputs.some((input) => input.name === field.name)) continue;
      const value = template.tryParse(stored[name]?.S ?? '')?.[field.name];
      if (value !== undefined) return value;
    }
    return undefined;
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
