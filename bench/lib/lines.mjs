import { escape } from './bars.mjs';
import { ticks } from './ticks.mjs';

const colours = ['#0b6e4f', '#c2410c', '#475569', '#7c3aed', '#0369a1'];
const [left, top, wide, high] = [78, 40, 420, 220];
const foot = top + high;

/** Lines of values over a size, both axes from 0, the first line coloured as ours. */
export function lines({ title, x, y, series }) {
  const points = series.flatMap((one) => one.points);
  const [acrossMarks, upMarks] = [0, 1].map((axis) => ticks(Math.max(...points.map((point) => point[axis]), 1e-9)));
  const px = (at) => (left + (at / acrossMarks.at(-1)) * wide).toFixed(1);
  const py = (value) => (foot - (value / upMarks.at(-1)) * high).toFixed(1);
  const grid = [
    ...acrossMarks.map(
      (at) => `<line x1="${px(at)}" y1="${foot}" x2="${px(at)}" y2="${foot + 4}" stroke="#475569"/>
<text x="${px(at)}" y="${foot + 17}" text-anchor="middle">${at.toLocaleString('en-US')}</text>`,
    ),
    ...upMarks.map(
      (value) => `<line x1="${left}" y1="${py(value)}" x2="${left + wide}" y2="${py(value)}" stroke="#e2e8f0"/>
<text x="${left - 6}" y="${(Number(py(value)) + 4).toFixed(1)}" text-anchor="end">${value.toLocaleString('en-US')}</text>`,
    ),
    `<polyline points="${left},${top} ${left},${foot} ${left + wide},${foot}" fill="none" stroke="#475569"/>`,
  ];
  const drawn = series.map(({ name, points: own }, i) => {
    const colour = colours[i % colours.length];
    const path = own.map(([at, value]) => `${px(at)},${py(value)}`).join(' ');
    const level = top + 10 + i * 20;
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>
${own.map(([at, value]) => `<circle cx="${px(at)}" cy="${py(value)}" r="3" fill="${colour}"/>`).join('\n')}
<line x1="${left + wide + 16}" y1="${level - 4}" x2="${left + wide + 36}" y2="${level - 4}" stroke="${colour}" stroke-width="2"/>
<text x="${left + wide + 42}" y="${level}">${escape(name)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="800" height="${foot + 44}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
<text x="8" y="20" font-weight="bold" font-size="13">${escape(title)}</text>
${[...grid, ...drawn].join('\n')}
<text x="${left + wide / 2}" y="${foot + 36}" text-anchor="middle">${escape(x)}</text>
<text transform="rotate(-90)" x="${-(top + high / 2)}" y="16" text-anchor="middle">${escape(y)}</text>
</svg>
`;
}
