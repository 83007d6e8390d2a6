// The matrices and the tiles: B above C, A left of C, shared memory in the corner between A and B.

import { h, svg, setText } from "./dom.js";
import { FLAG, Grid } from "./grid.js";
import { END, isLoad, isStore } from "./trace.js";

const SEEN = 32;      // rows or columns of a matrix that are shown at once
const TILE_SEEN = 64;
const LEFT = 26, TOP = 36, GAP = 34, BETWEEN = 18;
const NOTHING = new Set();
let stages = 0;

export class Stage {
  constructor(player, width, height) {
    this.player = player;
    this.box = { width, height };
    this.node = h("div", { class: "gw-stage" });
    player.listen(what => this.update(what));
    this.node.addEventListener("click", event => this.clicked(event));
    this.update("scene");
  }

  get scene() { return this.player.scene; }

  update(what) {
    if (what === "scene") this.build();
    if (what === "scene" || what === "thread") this.showThread();
    if (what !== "playing") this.paint();
  }

  // ---- layout

  build() {
    const { scene } = this, id = `gw-hatch-${++stages}`;
    const of = role => scene.arrays.find(array => array.role === role);
    const [A, B, C] = ["A", "B", "C"].map(role => of(role) || this.missing(role));
    const tiles = scene.arrays.filter(array => array.space === "shared").sort((a, b) => (a.filled_from ?? 99) - (b.filled_from ?? 99)
      || a.at - b.at);
    const order = { A: 0, B: 1 };
    tiles.sort((a, b) => (order[scene.arrays[a.filled_from]?.role] ?? 2) - (order[scene.arrays[b.filled_from]?.role] ?? 2));
    this.tiles = tiles.map(folded);
    const seen = n => Math.min(n, SEEN), { width, height } = this.box;
    const size = Math.max(5, Math.min(24, Math.floor(Math.min((width - 2 * LEFT - 8) / (seen(A.columns) + seen(C.columns)),
      (height - TOP - GAP - 6) / (seen(B.rows) + seen(C.rows))))));
    const corner = { width: width - 2 * LEFT - seen(C.columns) * size - 8, height: seen(B.rows) * size };
    this.grids = { A: new Grid(A, size, SEEN, SEEN, "global"), B: new Grid(B, size, SEEN, SEEN, "global"),
      C: new Grid(C, size, SEEN, SEEN, "product") };
    const right = width - seen(C.columns) * size - 2, below = TOP + Math.max(corner.height, this.placeTiles(corner)) + GAP;
    move(this.grids.B, right, below - GAP - corner.height);
    move(this.grids.C, right, below);
    move(this.grids.A, right - LEFT - this.grids.A.width, below);
    const bottom = below + this.grids.C.height + 4;
    this.all = [...Object.values(this.grids), ...this.tileGrids];
    for (const grid of this.all) setText(grid.title, this.titleOf(grid));
    const note = tiles.length ? [] : [svg("text", { x: LEFT, y: TOP + 4, class: "gw-note" }, "no shared memory in this kernel")];
    this.node.replaceChildren(svg("svg", { width, height: bottom, viewBox: `0 0 ${width} ${bottom}`, role: "group",
      "aria-label": "matrices and shared memory", style: `--gw-hatch: url(#${id})` }, hatch(id), note, this.all.map(g => g.node)));
  }

  // A matrix that the block never reached.
  missing(role) {
    const [M, N, K] = this.scene.meta.size;
    const [rows, columns] = { A: [M, K], B: [K, N], C: [M, N] }[role];
    return { name: role, role, rows, columns, space: "global", number: -1 };
  }

  // Tiles side by side, or one below the other where that leaves larger cells. Returns the height they take.
  placeTiles(corner) {
    this.tileGrids = [];
    if (!this.tiles.length) return 0;
    const columns = this.tiles.map(tile => Math.min(tile.columns, TILE_SEEN)), rows = this.tiles.map(t => Math.min(t.rows, TILE_SEEN));
    const count = this.tiles.length, sum = list => list.reduce((a, b) => a + b, 0);
    const beside = Math.min((corner.width - (count - 1) * BETWEEN) / sum(columns), corner.height / Math.max(...rows));
    const stacked = Math.min(corner.width / Math.max(...columns), (corner.height - (count - 1) * GAP) / sum(rows));
    const size = Math.max(4, Math.min(22, Math.floor(Math.max(beside, stacked)))), across = beside >= stacked;
    let x = LEFT, y = TOP;
    for (const tile of this.tiles) {
      const grid = new Grid(tile, size, TILE_SEEN, TILE_SEEN, "shared");
      move(grid, x, y);
      this.tileGrids.push(grid);
      if (across) x += grid.width + BETWEEN; else y += grid.height + GAP;
    }
    return across ? Math.max(...this.tileGrids.map(g => g.height)) : y - GAP - TOP;
  }

  titleOf(grid) {
    const { array } = grid, cut = grid.rows < array.rows || grid.columns < array.columns ? ", a part" : "";
    const memory = array.space === "shared" ? "shared" : "global";
    const name = array.role && array.role !== array.name ? `${array.name} (${array.role})` : array.name;
    return grid.width > 90 ? `${name}  ${array.rows} × ${array.columns}, ${memory}${cut}` : `${name} ${array.rows}×${array.columns}`;
  }

  // ---- what belongs to the followed thread, whatever the step

  showThread() {
    const { scene, player } = this, own = scene.targets(player.thread);
    this.own = new Map();
    scene.chainSteps.forEach((_, chain) => {
      const cell = scene.target(chain, player.thread);
      if (cell) this.own.set(cell.element, chain);
    });
    const [row, column] = this.home(own), { A, B, C } = this.grids;
    A.moveTo(row, A.columnAt);
    B.moveTo(B.rowAt, column);
    C.moveTo(row, column);
    this.outlineThread();
  }

  outlineThread() {
    const used = this.scene.usedBy(this.player.thread);
    for (const grid of this.all)
      if (grid === this.grids.C) {
        grid.outline("block", this.stored());
        grid.outline("own", this.own.keys());
      } else grid.outline("used", used.get(grid.array.number) || NOTHING);
  }

  // The elements of C that the block stores.
  stored() {
    const { scene } = this, { number } = this.grids.C.array, found = new Set();
    if (number >= 0) scene.writes(number).forEach((_, element) => found.add(element));
    return found;
  }

  // Where to look in a matrix that is larger than the picture.
  home(own) {
    const { columns } = this.grids.C.array;
    if (!own.length) return [this.grids.C.rowAt, this.grids.C.columnAt];
    const rows = own.map(c => Math.floor(c.element / columns)), cols = own.map(c => c.element % columns);
    return [Math.floor(Math.min(...rows) / 8) * 8, Math.floor(Math.min(...cols) / 8) * 8];
  }

  // Follow the tile along K.
  followK() {
    const { A, B } = this.grids, { scene } = this;
    if (A.columns === A.array.columns && B.rows === B.array.rows) return;
    for (let step = this.player.position; step >= 0; step--) {
      const array = scene.array(step);
      if (!array || !isLoad(scene.kind(step)) || (array.role !== "A" && array.role !== "B")) continue;
      const element = scene.element(step, scene.members(step)[0]);
      const k = array.role === "A" ? element % array.columns : Math.floor(element / array.columns);
      if (k >= A.columnAt && k < A.columnAt + A.columns) return;
      A.moveTo(A.rowAt, Math.floor(k / SEEN) * SEEN);
      B.moveTo(Math.floor(k / SEEN) * SEEN, B.columnAt);
      this.outlineThread();
      return;
    }
  }

  // ---- the step

  paint() {
    this.followK();
    const { scene, player } = this, { position, thread } = player;
    const block = scene.touched(position), mine = scene.touched(position, thread);
    const compute = scene.column.array[position] < 0 && scene.kind(position) !== END;
    const letter = compute ? "×" : isStore(scene.kind(position)) ? "W" : "R";
    const sources = compute ? this.sources(position, thread) : new Map();
    const alerts = this.alerts(), marks = this.marks();
    for (const grid of this.all) {
      const n = grid.array.number, tile = grid.array.space === "shared", isC = grid === this.grids.C;
      const [b, m, o, a] = [block, mine, sources, alerts].map(map => map.get(n) || NOTHING);
      const around = this.copied(grid);
      if (around) grid.outline("copied", around);
      grid.paint(element => {
        const value = isC ? this.result(element) : scene.content(n, element, position);
        let flags = (tile || isC) && value !== undefined ? FLAG.held : 0;
        if (tile && flags && scene.isOlder(n, element, position)) flags |= FLAG.older;
        if (b.has(element)) flags |= FLAG.block;
        if (m.has(element)) flags |= compute ? FLAG.operand : FLAG.mine;
        if (o.has(element)) flags |= FLAG.operand;
        if (a.has(element)) flags |= FLAG.alert;
        flags |= marks(n, element);
        const focus = tile || flags & ~FLAG.held || (isC && (grid.size >= 18 || this.own.has(element)));
        const sign = flags & FLAG.alert ? "!" : flags & FLAG.guess ? "?" : flags & FLAG.differs ? "≠" : m.has(element) ? letter
          : o.has(element) ? "×" : b.has(element) ? "•" : "";
        return [flags, focus ? value : undefined, sign];
      });
    }
  }

  // The cells of A and B whose copies the thread multiplies now.
  sources(position, thread) {
    const found = new Map();
    for (let operand = 0; operand < 3; operand++)
      for (const cell of this.scene.path(position, operand, thread).slice(1))
        found.set(cell.array, (found.get(cell.array) || new Set()).add(cell.element));
    return found;
  }

  // What C holds: the running sum in the thread's own elements, what was stored elsewhere, all of it at the end.
  result(element) {
    const { scene, player } = this, array = this.grids.C.array.number;
    const stored = array < 0 ? undefined : scene.content(array, element, player.position);
    if (stored !== undefined) return stored;
    if (scene.kind(player.position) === END && scene.meta.completed) return scene.column.C[element];
    const chain = this.own.get(element);
    return chain === undefined ? undefined : scene.accumulator(chain, player.thread, player.position)?.value;
  }

  // The elements of A (or B) of which shared memory holds a copy: null if that cannot have changed.
  copied(grid) {
    const { scene } = this;
    if (grid !== this.grids.A && grid !== this.grids.B) return null;
    const found = new Set();
    for (const tile of scene.arrays)
      if (tile.space === "shared" && tile.filled_from === grid.array.number)
        for (let element = 0; element < tile.rows * tile.columns; element++) {
          const written = scene.lastWrite(tile.number, element, this.player.position + 1);
          const from = written && scene.origin(written.step, written.k, written.thread);
          if (from && scene.column.array[from.step] === grid.array.number)
            found.add(scene.element(from.step, written.thread) + from.element);
        }
    return found;
  }

  // The cells of findings whose second access is now or has been.
  alerts() {
    const found = new Map();
    for (const spot of this.scene.meta.spots)
      if (this.player.position >= spot.steps[0]) found.set(spot.array, (found.get(spot.array) || new Set()).add(spot.index));
    return found;
  }

  // Flags that come from what the viewer does: a picked cell and its relatives, guesses, a comparison of two orders.
  marks() {
    const { player, scene } = this, { picked, related, guesses } = player;
    const C = this.grids.C.array.number, differs = scene.column.differs;
    const atEnd = scene.kind(player.position) === END;
    return (array, element) => {
      let flags = 0;
      if (picked && picked.array === array && picked.element === element) flags |= FLAG.picked;
      if (picked && related?.get(array)?.has(element)) flags |= FLAG.related;
      if (guesses?.cells?.has(`${array}:${element}`)) flags |= FLAG.guess;
      if (atEnd && array === C && (differs[element] || scene.column.wrong[element])) flags |= FLAG.differs;
      return flags;
    };
  }

  clicked(event) {
    const rect = event.target.closest("rect[data-n]"), node = event.target.closest(".gw-grid");
    const grid = this.all.find(g => g.node === node);
    if (!rect || !grid || grid.array.number < 0) return;
    const cell = { array: grid.array.number, element: grid.element(Number(rect.dataset.n)) };
    if (this.player.guesses) this.player.guess("cells", `${cell.array}:${cell.element}`);
    else this.player.pick(cell);
  }
}

function move(grid, x, y) { grid.node.setAttribute("transform", `translate(${x} ${y})`); }

// An array of one long row, in rows of 32.
function folded(array) {
  return array.rows === 1 && array.columns > 32 && array.columns % 32 === 0
    ? { ...array, rows: array.columns / 32, columns: 32 } : array;
}

function hatch(id) {
  return svg("defs", {}, svg("pattern", { id, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("rect", { width: 5, height: 5, class: "gw-hatch-ground" }), svg("line", { x1: 0, y1: 0, x2: 0, y2: 5, class: "gw-hatch-line" })));
}
