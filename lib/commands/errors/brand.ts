/**
 * Recognises an object by a process-wide symbol, so that the ESM and the CommonJS copy of the package in one process
 * (and two installed copies) know each other's objects: `instanceof` alone would not.
 */
export const brandOf = (name: string): symbol => Symbol.for(`safewrites.${name}`);

/** Whether `value` carries the brand. What runs with every clause asks for its one brand itself, which is several times faster. */
export const hasBrand = (value: unknown, brand: symbol): boolean =>
  typeof value === 'object' && value !== null && brand in value;
