// Where the grids stand in the picture: B above C, A left of C, the tiles in the corner between A and B.

import { setText, svg } from "./dom.js";
import { Grid } from "./grid.js";

export const SEEN = 32; // rows or columns of a matrix that are shown at once
const LEFT = 26;
const TOP = 36;
const GAP = 34;
const BETWEEN = 18;
const LARGEST = { matrix: 24, tile: 22 }; // cells, in pixels
const SMALLEST = 4;
const LETTER = 6; // about the width of one in a title
let pictures = 0;

const seen = n => Math.min(n, SEEN);
const sum = list => list.reduce((a, b) => a + b, 0);

// The grids of a scene, and the picture with them: {grids: {A, B, C}, tiles, picture}.
export function layOut(scene, { width, height }) {
  const [A, B, C] = ["A", "B", "C"].map(role => matrix(scene, role));
  const across = (width - 2 * LEFT - 8) / (seen(A.columns) + seen(C.columns));
  const down = (height - TOP - GAP - 6) / (seen(B.rows) + seen(C.rows));
  const size = Math.max(5, Math.min(LARGEST.matrix, Math.floor(Math.min(across, down))));
  const grids = {
    A: new Grid(A, size, SEEN, SEEN, "global"),
    B: new Grid(B, size, SEEN, SEEN, "global"),
    C: new Grid(C, size, SEEN, SEEN, "product"),
  };
  const tiles = placeTiles(tilesOf(scene), width - 2 * LEFT - grids.C.width - 8, grids.B.height);
  const tilesEnd = Math.max(0, ...tiles.map(grid => grid.bottom));
  const right = width - grids.C.width - 2;
  const below = Math.max(TOP + grids.B.height, tilesEnd) + GAP;
  move(grids.B, right, below - GAP - grids.B.height);
  move(grids.C, right, below);
  move(grids.A, right - LEFT - grids.A.width, below);
  const all = [...Object.values(grids), ...tiles];
  for (const grid of all) setText(grid.title, titleOf(grid));
  return { grids, tiles, picture: picture(all, width, below + grids.C.height + 4, tiles.length > 0) };
}

function picture(grids, width, height, hasTiles) {
  const id = `gw-hatch-${++pictures}`;
  const note = svg("text", { x: LEFT, y: TOP + 4, class: "gw-note" }, "no shared memory in this kernel");
  const look = {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "group",
    "aria-label": "matrices and shared memory",
    style: `--gw-hatch: url(#${id})`,
  };
  const nodes = grids.map(grid => grid.node);
  return svg("svg", look, hatch(id), hasTiles ? null : note, nodes);
}

// A, B or C; a stand-in for one that the block never reached.
function matrix(scene, role) {
  const [M, N, K] = scene.meta.size;
  const [rows, columns] = { A: [M, K], B: [K, N], C: [M, N] }[role];
  const found = scene.arrays.find(array => array.role === role);
  return found || { name: role, role, rows, columns, space: "global", number: -1 };
}

// The shared arrays: those that hold parts of A first, then those of B.
function tilesOf(scene) {
  const rank = array => ({ A: 0, B: 1 })[scene.arrays[array.filled_from]?.role] ?? 2;
  const tiles = scene.arrays.filter(array => array.space === "shared");
  return tiles.sort((a, b) => rank(a) - rank(b) || a.at - b.at).map(folded);
}

// An array of one long row, in rows of 32.
function folded(array) {
  const long = array.rows === 1 && array.columns > 32 && array.columns % 32 === 0;
  return long ? { ...array, rows: array.columns / 32, columns: 32 } : array;
}

// Tiles side by side, or one below the other where that leaves larger cells. Of a tile that is larger than the corner a
// part is shown.
function placeTiles(tiles, width, height) {
  const widest = Math.floor(width / SMALLEST);
  const columns = tiles.map(tile => Math.min(tile.columns, widest));
  const rows = tiles.map(tile => Math.min(tile.rows, 2 * SEEN));
  const gaps = tiles.length - 1;
  const beside = Math.min((width - gaps * BETWEEN) / sum(columns), height / Math.max(...rows));
  const stacked = Math.min(width / Math.max(...columns), (height - gaps * GAP) / sum(rows));
  const size = Math.max(SMALLEST, Math.min(LARGEST.tile, Math.floor(Math.max(beside, stacked))));
  let x = LEFT;
  let y = TOP;
  return tiles.map(tile => {
    const grid = new Grid(tile, size, 2 * SEEN, widest, "shared");
    move(grid, x, y);
    if (beside >= stacked) x += Math.max(grid.width, LETTER * titleOf(grid).length) + BETWEEN;
    else y += grid.height + GAP;
    return grid;
  });
}

function move(grid, x, y) {
  grid.node.setAttribute("transform", `translate(${x} ${y})`);
  grid.bottom = y + grid.height;
}

function titleOf({ array, rows, columns, width }) {
  const cut = rows < array.rows || columns < array.columns ? ", a part" : "";
  const name = array.role && array.role !== array.name ? `${array.name} (${array.role})` : array.name;
  const long = `${name}  ${array.rows} × ${array.columns}, ${array.space}${cut}`;
  return LETTER * long.length > width ? `${name} ${array.rows}×${array.columns}` : long;
}

// The pattern of cells with old values.
function hatch(id) {
  const look = { id, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
  return svg(
    "defs",
    {},
    svg(
      "pattern",
      look,
      svg("rect", { width: 5, height: 5, class: "gw-hatch-ground" }),
      svg("line", { x1: 0, y1: 0, x2: 0, y2: 5, class: "gw-hatch-line" }),
    ),
  );
}
