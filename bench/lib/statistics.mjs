/** The middle of the values. */
export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

/** The lowest and the highest. */
export const spread = (values) => [Math.min(...values), Math.max(...values)];

/** A number in three digits. */
export const digits = (value) =>
  value >= 100 ? Math.round(value).toLocaleString('en-US') : Number(value.toPrecision(3)).toString();

/** The value below which that part of the values lies. */
export const percentile = (values, part) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
};

/** How much the values rise from one to the next, by least squares, and the standard error of that. */
export const slope = (values) => {
  const n = values.length;
  const middle = (n - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const spreadOfPlaces = (n * (n * n - 1)) / 12;
  const rise = values.reduce((sum, value, i) => sum + (i - middle) * (value - mean), 0) / spreadOfPlaces;
  const rest = values.reduce((sum, value, i) => sum + (value - mean - rise * (i - middle)) ** 2, 0);
  return { rise, error: Math.sqrt(rest / (n - 2) / spreadOfPlaces), mean };
};
