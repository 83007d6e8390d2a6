// The matrices and the tiles: B above C, A left of C, shared memory in the corner between A and B.

import { h } from "./dom.js";
import { FLAG } from "./grid.js";
import { SEEN, layOut } from "./layout.js";
import { END, isLoad, isStore } from "./kinds.js";

const NOTHING = new Set();

export class Stage {
  constructor(player, width, height) {
    this.player = player;
    this.box = { width, height };
    this.node = h("div", { class: "gw-stage" });
    player.listen(what => this.update(what));
    this.node.addEventListener("click", event => this.clicked(event));
    this.update("scene");
  }

  get scene() {
    return this.player.scene;
  }

  update(what) {
    if (what === "scene") this.build();
    if (what === "scene" || what === "thread") this.showThread();
    if (what !== "playing") this.paint();
  }

  build() {
    const { grids, tiles, picture } = layOut(this.scene, this.box);
    this.grids = grids;
    this.all = [...Object.values(grids), ...tiles];
    this.node.replaceChildren(picture);
  }

  // ---- what belongs to the followed thread, whatever the step

  showThread() {
    const { scene, player } = this;
    const own = scene.targets(player.thread);
    this.own = new Map(own.map(cell => [cell.element, -1]));
    scene.chainSteps.forEach((_, chain) => {
      const cell = scene.target(chain, player.thread);
      if (cell && cell.array === this.grids.C.array.number) this.own.set(cell.element, chain);
    });
    const [row, column] = this.home(own);
    const { A, B, C } = this.grids;
    A.moveTo(row, A.columnAt);
    B.moveTo(B.rowAt, column);
    C.moveTo(row, column);
    for (const tile of this.all.filter(grid => grid.array.space === "shared")) this.showUsed(tile);
    this.outlineThread();
  }

  // Of a tile that is larger than the picture, the part that the thread uses.
  showUsed(grid) {
    const used = [...(this.scene.usedBy(this.player.thread).get(grid.array.number) || [0])];
    const { columns } = grid.array;
    grid.moveTo(Math.min(...used.map(e => Math.floor(e / columns))), Math.min(...used.map(e => e % columns)));
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
    const { scene } = this;
    const { number } = this.grids.C.array;
    const found = new Set();
    if (number >= 0) scene.writes(number).forEach((_, element) => found.add(element));
    return found;
  }

  // Where to look in a matrix that is larger than the picture.
  home(own) {
    const { columns } = this.grids.C.array;
    if (!own.length) return [this.grids.C.rowAt, this.grids.C.columnAt];
    const rows = own.map(c => Math.floor(c.element / columns));
    const cols = own.map(c => c.element % columns);
    return [Math.floor(Math.min(...rows) / 8) * 8, Math.floor(Math.min(...cols) / 8) * 8];
  }

  // Follow the tile along K.
  followK() {
    const { A, B } = this.grids;
    const { scene } = this;
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
    const { scene, player } = this;
    const { position, thread } = player;
    const block = scene.touched(position);
    const mine = scene.touched(position, thread);
    const atEnd = scene.kind(position) === END;
    const { differs, wrong } = scene.column;
    const compute = scene.column.array[position] < 0 && !atEnd;
    const letter = compute ? "×" : isStore(scene.kind(position)) ? "W" : "R";
    const sources = compute ? this.sources(position, thread) : new Map();
    const alerts = this.alerts();
    const marks = this.marks();
    for (const grid of this.all) {
      const n = grid.array.number;
      const tile = grid.array.space === "shared";
      const isC = grid === this.grids.C;
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
        if (isC && atEnd && (differs[element] || wrong[element])) flags |= FLAG.differs;
        const focus = tile || flags & ~FLAG.held || (isC && (grid.size >= 18 || this.own.has(element)));
        const sign =
          flags & FLAG.alert
            ? "!"
            : flags & FLAG.guess
              ? "?"
              : flags & FLAG.differs
                ? "≠"
                : m.has(element)
                  ? letter
                  : o.has(element)
                    ? "×"
                    : b.has(element)
                      ? "•"
                      : "";
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
    const { scene, player } = this;
    const array = this.grids.C.array.number;
    const stored = array < 0 ? undefined : scene.content(array, element, player.position);
    if (stored !== undefined) return stored;
    if (scene.kind(player.position) === END && scene.meta.completed) return scene.column.C[element];
    const chain = this.own.get(element);
    return chain === undefined || chain < 0
      ? undefined
      : scene.accumulator(chain, player.thread, player.position)?.value;
  }

  // The elements of A (or B) of which shared memory holds a copy: null if that cannot have changed.
  copied(grid) {
    const { scene } = this;
    if (grid !== this.grids.A && grid !== this.grids.B) return null;
    const found = new Set();
    for (const tile of scene.arrays)
      if (tile.space === "shared" && tile.filled_from !== null)
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
      if (this.player.position >= spot.steps[0])
        found.set(spot.array, (found.get(spot.array) || new Set()).add(spot.index));
    return found;
  }

  // Flags that come from what the viewer does: a picked cell and its relatives, guesses.
  marks() {
    const { picked, related, guesses } = this.player;
    return (array, element) => {
      let flags = 0;
      if (picked && picked.array === array && picked.element === element) flags |= FLAG.picked;
      if (picked && related?.get(array)?.has(element)) flags |= FLAG.related;
      if (guesses?.cells?.has(`${array}:${element}`)) flags |= FLAG.guess;
      return flags;
    };
  }

  clicked(event) {
    const rect = event.target.closest("rect[data-n]");
    const node = event.target.closest(".gw-grid");
    const grid = this.all.find(g => g.node === node);
    if (!rect || !grid || grid.array.number < 0) return;
    const cell = { array: grid.array.number, element: grid.element(Number(rect.dataset.n)) };
    if (this.player.guesses) this.player.guess("cells", `${cell.array}:${cell.element}`);
    else this.player.pick(cell);
  }
}
