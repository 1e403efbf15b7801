// Bars as SVG by hand: a plotting library would be the largest dependency of this package, for rectangles.
/** Text as SVG holds it. */
export const escape = (text) => text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign]);

/** A bar for each value, the first one coloured as ours. */
export function bars({ title, unit, rows }) {
  const line = 26;
  const left = 210;
  const wide = 420;
  const most = Math.max(...rows.map(({ value }) => value));
  const height = 44 + rows.length * line;
  const drawn = rows.map(({ name, value, text }, i) => {
    const y = 36 + i * line;
    const width = Math.max(1, (value / most) * wide);
    const colour = i === 0 ? '#0b6e4f' : '#9aa5b1';
    return [
      `<text x="${left - 8}" y="${y + 14}" text-anchor="end">${escape(name)}</text>`,
      `<rect x="${left}" y="${y}" width="${width.toFixed(1)}" height="18" fill="${colour}"/>`,
      `<text x="${(left + width + 6).toFixed(1)}" y="${y + 14}">${escape(text)}</text>`,
    ].join('\n');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="760" height="${height}" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="white"/>
<text x="8" y="20" font-weight="bold">${escape(title)}${unit ? ` (${escape(unit)})` : ''}</text>
${drawn.join('\n')}
</svg>
`;
}
