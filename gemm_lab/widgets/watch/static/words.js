// Names of cells, and numbers in words. Nothing here touches the page.

export function place(scene, array, element) {
  const { rows, columns, name } = scene.arrays[array];
  return rows === 1 ? `${name}[${element}]` : `${name}[${Math.floor(element / columns)}][${element % columns}]`;
}

// "0..3", "0, 2, 4" or "7"
export function ranges(numbers) {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const parts = [];
  for (const n of sorted) {
    const last = parts.at(-1);
    if (last && last[1] === n - 1) last[1] = n;
    else parts.push([n, n]);
  }
  return parts
    .map(([from, to]) => (from === to ? `${from}` : to === from + 1 ? `${from}, ${to}` : `${from}..${to}`))
    .join(", ");
}

// "rows 0..3, col 0" of a set of cells of one array
export function region(scene, array, elements) {
  const { columns } = scene.arrays[array];
  const rows = elements.map(e => Math.floor(e / columns));
  const cols = elements.map(e => e % columns);
  const plural = (word, list) => `${word}${new Set(list).size > 1 ? "s" : ""} ${ranges(list)}`;
  return `${plural("row", rows)}, ${plural("col", cols)}`;
}

export function short(value) {
  if (value === undefined) return "";
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  return Number.isInteger(value) ? String(value) : value.toPrecision(3);
}

// "1 line", "2 lines"
export const several = (number, thing) => `${grouped(number)} ${thing}${number === 1 ? "" : "s"}`;

export const grouped = number => Math.round(number).toLocaleString("en-US");
