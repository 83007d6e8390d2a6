// The followed thread: what it computes, what its registers hold; and all threads of the block in a table.

import { h, setAttribute, setClass, setText } from "./dom.js";
import { BARRIER, END, isLoad, isStore } from "./kinds.js";
import { place, region, short } from "./words.js";

const SHOWN = 16; // loaded values
const ROOMY = 6; // so many of them leave room for words
const LONG = 48; // letters in the name of a region
const FEW = 8; // accumulators that are listed with the elements they end in

export class Lens {
  constructor(player) {
    this.player = player;
    this.title = h("h4", {});
    this.uses = h("p", { class: "gw-quiet" });
    this.held = h("ul", { class: "gw-chips", "aria-label": "loaded values in registers" });
    this.sums = h("ul", { class: "gw-sums", "aria-label": "accumulators" });
    this.now = h("p", { class: "gw-now" });
    this.node = h(
      "section",
      { class: "gw-lens", "aria-label": "followed thread" },
      this.title,
      this.uses,
      this.now,
      h("div", { class: "gw-registers" }, this.held, this.sums),
    );
    player.listen(what => this.update(what));
    this.update("scene");
  }

  update(what) {
    const { scene, thread, position } = this.player;
    if (what === "scene" || what === "thread") {
      setText(this.title, this.summary());
      setText(this.uses, this.needs());
    }
    setText(this.now, this.action());
    const held = scene.held(thread, position).slice(0, SHOWN);
    this.held.replaceChildren(...held.map(register => this.chip(register, held.length <= ROOMY)));
    const many = scene.chainSteps.length > FEW;
    setClass(this.sums, "gw-sums-many", many);
    setAttribute(this.sums, "style", many ? `--gw-across: ${this.across()}` : "");
    this.sums.replaceChildren(...scene.chainSteps.map((_, chain) => this.sum(chain, many)));
  }

  // How many accumulators stand side by side: as many as the thread has columns of C.
  across() {
    const { scene, thread } = this.player;
    const own = scene.targets(thread);
    const columns = own.length ? new Set(own.map(cell => cell.element % scene.arrays[cell.array].columns)).size : 0;
    return columns > 1 && columns <= 8 && scene.chainSteps.length % columns === 0 ? columns : 4;
  }

  // "T(0,0) → C rows 0..3, col 0"
  summary() {
    const { scene, thread } = this.player;
    const own = scene.targets(thread);
    const name = scene.name(thread);
    const elsewhere = scene.chainSteps.map((_, chain) => scene.target(chain, thread)).find(cell => cell);
    if (!own.length)
      return elsewhere
        ? `${name} → partial sums in ${scene.arrays[elsewhere.array].name}, nothing in C`
        : `${name} → stores nothing: ${scene.meta.completed ? "outside of C" : "the run was stopped"}`;
    return `${name} → ${scene.arrays[own[0].array].name} ${region(
      scene,
      own[0].array,
      own.map(cell => cell.element),
    )}`;
  }

  // "uses A rows 0..3 · B col 0 · As rows 0..3 · Bs col 0"
  needs() {
    const { scene, thread } = this.player;
    const used = [...scene.usedBy(thread)].sort(([a], [b]) => a - b);
    const parts = used.map(([number, elements]) => `${scene.arrays[number].name} ${this.part(number, [...elements])}`);
    return parts.length ? `uses ${parts.join(" · ")}` : "multiplies nothing";
  }

  // "rows 0..3" where all of these rows are used, "col 0" where all of that column is.
  part(number, elements) {
    const { scene } = this.player;
    const { rows, columns } = scene.arrays[number];
    const height = new Set(elements.map(e => Math.floor(e / columns))).size;
    const width = new Set(elements.map(e => e % columns)).size;
    const all = region(scene, number, elements);
    if (all.length > LONG) return `${elements.length} elements`;
    const [inRows, inColumns] = all.split(", c");
    if (height < rows && width === columns) return inRows;
    return width < columns && height === rows ? `c${inColumns}` : all;
  }

  action() {
    const { scene, thread, position } = this.player;
    return actionOf(scene, thread, position);
  }

  chip({ array, element, value, uses, used }, roomy) {
    const { scene } = this.player;
    return h(
      "li",
      { class: `gw-chip gw-${scene.arrays[array].space}` },
      h("b", {}, short(value)),
      " ",
      place(scene, array, element),
      uses > 1
        ? h(
            "span",
            { class: "gw-uses", title: `use ${used} of ${uses}` },
            roomy ? ` use ${used} of ${uses}` : ` ${used}/${uses}`,
          )
        : null,
    );
  }

  sum(chain, compact = false) {
    const { scene, thread, position } = this.player;
    const sum = scene.accumulator(chain, thread, position);
    const target = scene.target(chain, thread);
    const now = sum && sum.step === position;
    const ends = target ? place(scene, target.array, target.element) : "not stored";
    return h(
      "li",
      { class: now ? "gw-sum gw-now-changed" : "gw-sum", title: compact ? `acc ${chain}, ${ends}` : null },
      h("span", { class: compact ? "gw-quiet" : null }, compact ? String(chain) : `acc ${chain}`),
      h("b", {}, sum ? short(sum.value) : "–"),
      compact ? null : h("span", { class: "gw-quiet" }, ends),
    );
  }
}

// What one thread does in a step, in a few words.
export function actionOf(scene, thread, position) {
  const kind = scene.kind(position);
  if (kind === END) return scene.meta.completed ? "has finished" : "was stopped";
  if (!scene.takesPart(position, thread)) {
    if (scene.waiting(position).has(thread)) return "waits at the barrier";
    return kind === BARRIER ? "has not arrived yet" : "takes no part in this step";
  }
  if (kind === BARRIER) return scene.column.opens[position] ? "arrives, and the barrier opens" : "waits at the barrier";
  if (scene.array(position)) {
    const at = place(scene, scene.column.array[position], scene.element(position, thread));
    const values = Array.from({ length: scene.width(position) }, (_, k) =>
      short(scene.value(position, thread, k)),
    ).join(", ");
    return isLoad(kind)
      ? `reads ${at} = ${values}`
      : isStore(kind)
        ? `writes ${at} = ${values}`
        : `updates ${at} to ${values}`;
  }
  const [a, b, c] = [0, 1, 2].map(operand => short(scene.operand(position, operand, thread)));
  const result = short(scene.value(position, thread));
  const chain = scene.column.chain[position];
  return chain >= 0 ? `acc ${chain} = ${a} · ${b} + ${c || "0"} = ${result}` : `computes ${result}`;
}

// One row for each thread; a click follows it.
export class Monitor {
  constructor(player) {
    this.player = player;
    this.body = h("tbody", {});
    this.head = h("tr", {});
    this.node = h(
      "details",
      { class: "gw-monitor", ontoggle: () => this.update("scene") },
      h("summary", {}, "All threads of the block"),
      h("div", { class: "gw-scroll", tabindex: "0" }, h("table", {}, h("thead", {}, this.head), this.body)),
    );
    player.listen(what => this.update(what));
  }

  update(what) {
    if (!this.node.open) return;
    const { scene } = this.player;
    if (what === "scene" || !this.rows || this.rows.length !== scene.threads) this.build();
    this.rows.forEach((row, thread) => this.fill(row, thread));
  }

  build() {
    const { scene } = this.player;
    const sums = scene.chainSteps.map((_, n) => `acc ${n}`);
    this.head.replaceChildren(
      ...["thread", "warp", "does", "held", ...sums].map(text =>
        h("th", { scope: "col", class: text === "does" ? "gw-does" : null }, text),
      ),
    );
    this.rows = Array.from({ length: scene.threads }, (_, thread) => {
      const follow = h("button", { type: "button", onclick: () => this.player.follow(thread) }, scene.name(thread));
      const row = h(
        "tr",
        { "data-thread": thread },
        h("th", { scope: "row" }, follow),
        h("td", {}, String(Math.floor(thread / scene.meta.warp))),
        h("td", { class: "gw-does" }),
        h("td", {}),
        ...sums.map(() => h("td", { class: "gw-number" })),
      );
      row.addEventListener("click", () => this.player.follow(thread));
      return row;
    });
    this.body.replaceChildren(...this.rows);
  }

  fill(row, thread) {
    const { scene, position } = this.player;
    const cells = row.children;
    const held = scene.held(thread, position)[0];
    setClass(row, "gw-followed", thread === this.player.thread);
    setClass(row, "gw-idle", !scene.takesPart(position, thread));
    setText(cells[2], actionOf(scene, thread, position));
    setText(cells[3], held ? `${place(scene, held.array, held.element)} = ${short(held.value)}` : "");
    scene.chainSteps.forEach((_, chain) => {
      const sum = scene.accumulator(chain, thread, position);
      setText(cells[4 + chain], sum ? short(sum.value) : "–");
    });
  }
}
