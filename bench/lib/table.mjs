/** A table in Markdown. */
export const markdown = (head, rows) =>
  [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
