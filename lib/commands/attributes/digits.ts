/**
 * The significant digits of a number's text, without sign, point, exponent and outer zeros: what DynamoDB counts to 38,
 * and what a double must give back to have lost nothing.
 */
export const significantDigits = (text: string): string => {
  const digits = text.replace(/[eE].*$/, '').replace(/[-+.]/g, '');
  let start = 0;
  let end = digits.length;
  // A pattern for the zeros at the end would take quadratic time on text that has many before it.
  while (start < end && digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  return digits.slice(start, end);
};

/** How DynamoDB takes a number's text. */
export const numberForm = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** The power of ten of the first significant digit of a number's text that is not 0. */
export const powerOf = (text: string): number => {
  const [mantissa = '', exponent = '0'] = text.replace(/^[+-]/, '').split(/[eE]/);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const leading = whole.replace(/^0+/, '');
  const zeros = fraction.length - fraction.replace(/^0+/, '').length;
  return Number(exponent) + (leading !== '' ? leading.length - 1 : -1 - zeros);
};

/** Whether a double made of a number's text lost digits: it holds every decimal of up to 15, and few beyond. */
export const losesDigits = (text: string, value: number): boolean => {
  if (text.length <= 15) return false;
  const digits = significantDigits(text);
  return digits.length > 15 && digits !== significantDigits(String(value));
};

/**
 * DynamoDB's range of N: zero, or a magnitude of 1E-130 to 9.99…E+125
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html).
 */
export const inNumberRange = (value: number): boolean =>
  value === 0 || (value < 1e126 && value > -1e126 && (value >= 1e-130 || value <= -1e-130));
