import type { AttributeValue as SdkAttributeValue } from '@aws-sdk/client-dynamodb';

/** An attribute value as the SDK takes it. */
export type AttributeValue = SdkAttributeValue;

/** A stored item or key, as the SDK gives it. */
export type AttributeMap = Record<string, AttributeValue>;

/** Encodes a checked value; `undefined` means that the attribute is absent, as an empty set is. */
export type Encode = (value: unknown) => AttributeValue | undefined;

/** Decodes a stored value; refuses what the attribute can't hold without loss. */
export type Decode = (stored: AttributeValue) => unknown;

/**
 * Characters and fixed overhead encoded since it was last reset. Three times this is an upper bound of the bytes of an
 * item, so the exact size, which costs a walk, is computed only near the limit.
 */
export const weight = { units: 0 };
