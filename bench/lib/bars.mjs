// Bars as SVG by hand: a plotting library would be the largest dependency of this package, for rectangles.
import { decades, ticks } from './ticks.mjs';

/** Text as SVG holds it. */
export const escape = (text) => text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign]);

const [line, top, wide] = [26, 36, 380];

/** A bar for each value, ours coloured; on a logarithmic axis where the values are far apart. */
export function bars({ title, unit, rows }) {
  const values = rows.map(({ value }) => value);
  const logarithmic = Math.max(...values) > 50 * Math.min(...values) && Math.min(...values) > 0;
  const marks = logarithmic ? decades(values) : ticks(Math.max(...values));
  const place = logarithmic
    ? (value) => Math.log10(value / marks[0]) / Math.log10(marks.at(-1) / marks[0])
    : (value) => value / marks.at(-1);
  const foot = top + rows.length * line;
  const left = 20 + 8 * Math.max(...rows.map(({ name }) => name.length));
  const axis = marks.map((mark) => {
    const x = (left + place(mark) * wide).toFixed(1);
    return `<line x1="${x}" y1="${top - 6}" x2="${x}" y2="${foot}" stroke="#e2e8f0"/>
<text x="${x}" y="${foot + 14}" text-anchor="middle" fill="#475569" font-size="11">${mark.toLocaleString('en-US')}</text>`;
  });
  const drawn = rows.map(({ name, value, text }, i) => {
    const y = top + i * line;
    const width = Math.max(1, place(value) * wide);
    const colour = name.startsWith('safewrites') ? '#0b6e4f' : '#9aa5b1';
    return [
      `<text x="${left - 8}" y="${y + 14}" text-anchor="end">${escape(name)}</text>`,
      `<rect x="${left}" y="${y}" width="${width.toFixed(1)}" height="18" fill="${colour}"/>`,
      `<text x="${(left + width + 6).toFixed(1)}" y="${y + 14}">${escape(text)}</text>`,
    ].join('\n');
  });
  const scale = `${unit}${logarithmic ? ', on a logarithmic axis' : ''}; less is better`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + wide + 80}" height="${foot + 40}" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="white"/>
<text x="8" y="20" font-weight="bold">${escape(title)}</text>
${[...axis, ...drawn].join('\n')}
<text x="${left + wide / 2}" y="${foot + 32}" text-anchor="middle" fill="#475569" font-size="12">${escape(scale)}</text>
</svg>
`;
}
