/** Builds all of dist/. */
export function buildPackage(): Promise<void>;
