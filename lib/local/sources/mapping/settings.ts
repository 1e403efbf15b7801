/** Refuses a setting that Lambda would refuse, or that means nothing. */
export function checkSetting(name: string, value: number, least: number, most: number): number {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${name} must be a whole number from ${least} to ${most}.`);
  }
  return value;
}

/** Refuses a limit of retries or age; -1 is none. */
export function checkLimit(name: string, value: number, least: number, most: number): number {
  return value === -1 ? value : checkSetting(name, value, least, most);
}
