import { escape } from './bars.mjs';

const colours = ['#0b6e4f', '#c2410c', '#475569', '#7c3aed', '#0369a1'];
const [left, top, wide, high] = [70, 36, 430, 220];

/** Lines of values over a size, both axes from 0, the first line coloured as ours. */
export function lines({ title, x, y, series }) {
  const points = series.flatMap((one) => one.points);
  const mostX = Math.max(...points.map(([at]) => at));
  const mostY = Math.max(...points.map(([, value]) => value), 1e-9);
  const px = (at) => (left + (at / mostX) * wide).toFixed(1);
  const py = (value) => (top + high - (value / mostY) * high).toFixed(1);
  const sizes = [...new Set(points.map(([at]) => at))];
  const ticks = [
    ...sizes.map((at) => `<text x="${px(at)}" y="${top + high + 16}" text-anchor="middle">${at}</text>`),
    ...[0, 0.5, 1].map((part) => {
      const value = Number((mostY * part).toPrecision(3));
      const level = py(mostY * part);
      return `<text x="${left - 6}" y="${level}" text-anchor="end">${value}</text>
<line x1="${left}" y1="${level}" x2="${left + wide}" y2="${level}" stroke="#e2e8f0"/>`;
    }),
  ];
  const drawn = series.map(({ name, points: own }, i) => {
    const colour = colours[i % colours.length];
    const path = own.map(([at, value]) => `${px(at)},${py(value)}`).join(' ');
    const level = top + 10 + i * 20;
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>
${own.map(([at, value]) => `<circle cx="${px(at)}" cy="${py(value)}" r="3" fill="${colour}"/>`).join('\n')}
<text x="${left + wide + 20}" y="${level}" fill="${colour}">${escape(name)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="780" height="300" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
<text x="8" y="20" font-weight="bold" font-size="13">${escape(title)} (${escape(y)})</text>
${[...ticks, ...drawn].join('\n')}
<text x="${left + wide / 2}" y="292" text-anchor="middle">${escape(x)}</text>
</svg>
`;
}
