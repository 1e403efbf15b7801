import type { AnyEntity, Timestamp } from '../../commands/index.js';

/** The names of an entity's attributes that hold such a value. */
export type NameOf<E extends AnyEntity, V> = {
  [K in keyof E['~item'] & string]: NonNullable<E['~item'][K]> extends V ? K : never;
}[keyof E['~item'] & string];

/** The names of an entity's attributes that events may set. */
export type FieldName<E extends AnyEntity> = Exclude<keyof E['~item'] & string, keyof E['~key']>;

/** What events are ordered by: a sequence, or a `timestamp()`. */
export type EventVersion = number | bigint | Timestamp;

/** The names of an entity's attributes that may hold a version. */
export type VersionName<E extends AnyEntity> = NameOf<E, EventVersion> & FieldName<E>;
