// One array as a grid of cells. What a cell looks like is a set of flags; only cells that change are touched.

import { svg, setAttribute, setText } from "./dom.js";
import { short } from "./words.js";

export const FLAGS = ["held", "older", "block", "mine", "operand", "alert", "picked", "related", "guess", "differs"];
export const FLAG = Object.fromEntries(FLAGS.map((name, n) => [name, 1 << n]));
const classNames = new Map();

function classOf(flags) {
  if (!classNames.has(flags))
    classNames.set(
      flags,
      ["gw-cell", ...FLAGS.filter((_, n) => flags & (1 << n)).map(name => `gw-is-${name}`)].join(" "),
    );
  return classNames.get(flags);
}

// The class of text on a cell whose ground is a full colour.
const inkOn = flags => (flags & FLAG.operand ? "gw-on-operand" : flags & FLAG.mine ? "gw-on-mine" : "");

export class Grid {
  // rows and columns: how many are shown, from rowAt and columnAt on
  constructor(array, size, rows, columns, memory) {
    this.array = array;
    this.size = size;
    this.rows = Math.min(array.rows, rows);
    this.columns = Math.min(array.columns, columns);
    this.rowAt = this.columnAt = 0;
    this.state = new Int32Array(this.rows * this.columns).fill(-1);
    this.texts = new Array(this.rows * this.columns).fill("");
    this.letters = new Array(this.rows * this.columns).fill("");
    this.node = svg("g", { class: `gw-grid gw-${memory}`, "data-array": array.number, "data-name": array.name });
    this.rects = [];
    this.labels = [];
    this.signs = [];
    this.outlines = new Map();
    this.build();
  }

  get width() {
    return this.columns * this.size;
  }
  get height() {
    return this.rows * this.size;
  }

  build() {
    for (let n = 0; n < this.state.length; n++) {
      const [x, y] = this.corner(n);
      this.rects.push(
        svg("rect", { x, y, width: this.size - 1, height: this.size - 1, rx: this.size > 9 ? 1.5 : 0, "data-n": n }),
      );
    }
    this.cells = svg("g", {}, this.rects);
    this.over = svg("g", { class: "gw-over" });
    this.axes = svg("g", { class: "gw-axes", "aria-hidden": "true" });
    this.title = svg("text", { class: "gw-title", y: -14 });
    this.node.append(this.title, this.axes, this.cells, this.over);
    this.number();
  }

  corner(n) {
    return [(n % this.columns) * this.size, Math.floor(n / this.columns) * this.size];
  }

  // The element of the array in cell n, and the cell of an element (-1: out of sight).
  element(n) {
    return (this.rowAt + Math.floor(n / this.columns)) * this.array.columns + this.columnAt + (n % this.columns);
  }

  cell(element) {
    const row = Math.floor(element / this.array.columns) - this.rowAt;
    const column = (element % this.array.columns) - this.columnAt;
    return row < 0 || column < 0 || row >= this.rows || column >= this.columns ? -1 : row * this.columns + column;
  }

  moveTo(row, column) {
    const rowAt = Math.max(0, Math.min(row, this.array.rows - this.rows));
    const columnAt = Math.max(0, Math.min(column, this.array.columns - this.columns));
    if (rowAt === this.rowAt && columnAt === this.columnAt) return false;
    [this.rowAt, this.columnAt] = [rowAt, columnAt];
    this.number();
    return true;
  }

  // Row and column numbers along the edges.
  number() {
    const every = Math.max(1, Math.ceil(14 / this.size));
    const step = every > 1 ? Math.max(4, every) : every;
    const marks = [];
    for (let r = 0; r < this.rows; r += step)
      marks.push(svg("text", { x: -3, y: (r + 0.5) * this.size, class: "gw-row" }, String(this.rowAt + r)));
    for (let c = 0; c < this.columns; c += step)
      marks.push(svg("text", { x: (c + 0.5) * this.size, y: -3, class: "gw-column" }, String(this.columnAt + c)));
    this.axes.replaceChildren(...marks);
  }

  // look(element) -> [flags, value or undefined, letter]
  paint(look) {
    for (let n = 0; n < this.state.length; n++) {
      const [flags, value, letter] = look(this.element(n));
      if (this.state[n] !== flags) {
        this.rects[n].setAttribute("class", classOf(flags));
        this.state[n] = flags;
      }
      const text = this.size < 10 ? "" : short(value);
      const signed = this.letters[n] !== letter;
      if (signed) this.sign(n, letter);
      if (this.texts[n] !== text || (text && (signed || this.labels[n].flags !== flags))) this.write(n, text, flags);
    }
  }

  write(n, text, flags) {
    this.texts[n] = text;
    if (!this.labels[n]) {
      const [x, y] = this.corner(n);
      this.labels[n] = this.over.appendChild(
        svg("text", { x: x + (this.size - 1) / 2, "data-n": n }),
      );
    }
    const label = this.labels[n];
    const below = this.letters[n] && text.length > 2 && this.size < 20; // a long number makes room for the letter
    setAttribute(label, "y", this.corner(n)[1] + this.size * (below ? 0.66 : 0.5) + 0.5);
    label.flags = flags;
    setText(label, text);
    setAttribute(label, "class", `gw-value ${inkOn(flags) || (flags & FLAG.older ? "gw-on-older" : "")}`);
    setAttribute(
      label,
      "font-size",
      Math.min(this.size * (this.size < 15 ? 0.68 : 0.55), (this.size * 1.4) / Math.max(text.length, 1)).toFixed(1),
    );
  }

  // A letter or dot in the corner, so that nothing depends on colour alone.
  sign(n, letter) {
    this.letters[n] = letter;
    const [x, y] = this.corner(n);
    if (this.size < 15) {
      // No room beside a value: the edge of the cell tells, and a dark corner what would be !, ? or ≠.
      const marked = letter !== "" && "!?≠".includes(letter);
      if (!marked && !this.signs[n]) return;
      const side = Math.max(2.5, this.size * 0.3);
      this.signs[n] ||= this.over.appendChild(svg("path", { class: "gw-corner" }));
      setAttribute(this.signs[n], "d", marked ? `M${x} ${y}h${side}l${-side} ${side}z` : "");
      return;
    }
    if (!this.signs[n]) {
      this.signs[n] = this.over.appendChild(
        svg("text", { x: x + 1.5, y: y + 1, "font-size": Math.max(6, this.size * 0.32) }),
      );
    }
    setText(this.signs[n], letter);
    setAttribute(this.signs[n], "class", `gw-sign ${inkOn(this.state[n])}`);
  }

  // The boundary of a set of elements, as one line of the given kind; an empty set removes it.
  outline(kind, elements) {
    if (!this.outlines.has(kind))
      this.outlines.set(
        kind,
        this.over.insertBefore(svg("path", { class: `gw-outline gw-outline-${kind}` }), this.over.firstChild),
      );
    setAttribute(this.outlines.get(kind), "d", this.boundary(elements));
  }

  boundary(elements) {
    const inside = new Set();
    for (const element of elements) {
      const n = this.cell(element);
      if (n >= 0) inside.add(n);
    }
    const s = this.size;
    const parts = [];
    for (const n of inside) {
      const [x, y] = this.corner(n);
      const column = n % this.columns;
      if (!inside.has(n - this.columns)) parts.push(`M${x - 0.5} ${y - 0.5}h${s}`);
      if (!inside.has(n + this.columns)) parts.push(`M${x - 0.5} ${y + s - 0.5}h${s}`);
      if (column === 0 || !inside.has(n - 1)) parts.push(`M${x - 0.5} ${y - 0.5}v${s}`);
      if (column === this.columns - 1 || !inside.has(n + 1)) parts.push(`M${x + s - 0.5} ${y - 0.5}v${s}`);
    }
    return parts.join("");
  }
}
