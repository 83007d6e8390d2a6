// The followed thread: what it computes, what its registers hold; and all threads of the block in a table.

import { h, setClass, setText } from "./dom.js";
import { BARRIER, END, isLoad, isStore } from "./kinds.js";
import { place, region, short } from "./words.js";

const SHOWN = 6; // loaded values

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
    this.held.replaceChildren(...held.map(register => this.chip(register)));
    this.sums.replaceChildren(...scene.chainSteps.map((_, chain) => this.sum(chain)));
  }

  // "T(0,0) → C rows 0..3, col 0"
  summary() {
    const { scene, thread } = this.player;
    const own = scene.targets(thread);
    const name = scene.name(thread);
    if (!own.length) return `${name} → stores nothing: outside of C`;
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
    const [inRows, inColumns] = region(scene, number, elements).split(", c");
    if (height < rows && width === columns) return inRows;
    return width < columns && height === rows ? `c${inColumns}` : region(scene, number, elements);
  }

  action() {
    const { scene, thread, position } = this.player;
    return actionOf(scene, thread, position);
  }

  chip({ array, element, value, uses, step }) {
    const { scene, position } = this.player;
    const used = usesUntil(scene, step, position);
    return h(
      "li",
      { class: `gw-chip gw-${scene.arrays[array].space}` },
      h("b", {}, short(value)),
      " ",
      place(scene, array, element),
      uses > 1 ? h("span", { class: "gw-uses" }, ` use ${used} of ${uses}`) : null,
    );
  }

  sum(chain) {
    const { scene, thread, position } = this.player;
    const sum = scene.accumulator(chain, thread, position);
    const target = scene.target(chain, thread);
    const now = sum && sum.step === position;
    return h(
      "li",
      { class: now ? "gw-sum gw-now-changed" : "gw-sum" },
      h("span", {}, `acc ${chain}`),
      h("b", {}, sum ? short(sum.value) : "–"),
      h("span", { class: "gw-quiet" }, target ? place(scene, target.array, target.element) : "not stored"),
    );
  }
}

function usesUntil(scene, load, position) {
  let used = 0;
  for (let step = load + 1; step <= position; step++)
    if (
      scene.phase(step) === "multiply" &&
      scene.members(step).some(thread => [0, 1].some(operand => scene.origin(step, operand, thread)?.step === load))
    )
      used++;
  return used;
}

// What one thread does in a step, in a few words.
export function actionOf(scene, thread, position) {
  const kind = scene.kind(position);
  if (kind === END) return "has finished";
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
      ...["thread", "warp", "does", "held", ...sums].map(text => h("th", { scope: "col" }, text)),
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
