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
const TALLEST = 260; // pixels that tiles may take where B is low
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
  const note = tiles.length ? null : noTiles(right - LEFT - BETWEEN);
  return { grids, tiles, picture: picture([note, ...all.map(grid => grid.node)], width, below + grids.C.height + 4) };
}

// What stands in the corner where there is no shared memory, on as many lines as fit beside B.
function noTiles(room) {
  const words = "no shared memory in this kernel";
  const lines = LETTER * words.length <= room ? [words] : ["no shared", "memory in", "this kernel"];
  const places = lines.map((line, n) => svg("tspan", { x: LEFT - 18, y: TOP + 4 + 14 * n }, line));
  return svg("text", { class: "gw-note" }, places);
}

function picture(nodes, width, height) {
  const id = `gw-hatch-${++pictures}`;
  const look = {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "group",
    "aria-label": "matrices and shared memory",
    style: `--gw-hatch: url(#${id})`,
  };
  return svg("svg", look, hatch(id), nodes);
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

// Tiles in rows, with cells as large as fit into the corner. Of a tile that is too wide for it a part is shown.
function placeTiles(tiles, width, height) {
  if (!tiles.length) return [];
  const ends = size => Math.max(...flow(tiles, size, width).map(({ bottom }) => bottom)) - TOP;
  const sizes = Array.from({ length: LARGEST.tile - SMALLEST + 1 }, (_, n) => LARGEST.tile - n);
  const fits = limit => sizes.find(size => ends(size) <= limit && widest(tiles) * size <= width);
  const size = fits(height) || fits(Math.max(height, TALLEST)) || SMALLEST;
  return flow(tiles, size, width).map(({ x, y }, n) => {
    const grid = new Grid(tiles[n], size, 2 * SEEN, Math.floor(width / size), "shared");
    move(grid, x, y);
    return grid;
  });
}

const widest = tiles => Math.max(...tiles.map(tile => tile.columns));

// Where tiles stand if their cells have this size: beside one another, in the next row where there is no room left.
function flow(tiles, size, width) {
  let x = LEFT;
  let y = TOP;
  let below = TOP;
  return tiles.map(tile => {
    const across = Math.max(Math.min(tile.columns * size, width), LETTER * shortest(tile).length);
    if (x > LEFT && x + across > LEFT + width) [x, y] = [LEFT, below + GAP];
    const place = { x, y, bottom: y + Math.min(tile.rows, 2 * SEEN) * size };
    x += across + BETWEEN;
    below = Math.max(below, place.bottom);
    return place;
  });
}

function move(grid, x, y) {
  grid.node.setAttribute("transform", `translate(${x} ${y})`);
  grid.bottom = y + grid.height;
}

const shortest = ({ name, rows, columns }) => `${name} ${rows}×${columns}`;

function titleOf({ array, rows, columns, width }) {
  const cut = rows < array.rows || columns < array.columns ? ", a part" : "";
  const name = array.role && array.role !== array.name ? `${array.name} (${array.role})` : array.name;
  const long = `${name}  ${array.rows} × ${array.columns}, ${array.space}${cut}`;
  const tight = `${name} ${array.rows}×${array.columns}, ${array.space}`;
  return [long, tight].find(title => LETTER * title.length <= width + BETWEEN / 2) || shortest(array);
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
