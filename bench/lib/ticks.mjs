/** Round numbers from 0 to beyond the largest value, four to eight of them. */
export const ticks = (most) => {
  const rough = most / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((part) => part * power).find((each) => each >= rough);
  const count = Math.ceil(most / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(6)));
};

/** Powers of ten around all values. */
export const decades = (values) => {
  const [least, most] = [Math.min(...values), Math.max(...values)].map(Math.log10);
  const first = Math.floor(least);
  return Array.from({ length: Math.ceil(most) - first + 1 }, (_, i) => Number((10 ** (first + i)).toPrecision(6)));
};
