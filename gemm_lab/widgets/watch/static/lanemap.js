// Lane × time: one access line of the source, lanes across, its executions down.

import { button, h, labelled } from "./dom.js";
import { OFFLINE } from "./problem.js";
import { isLoad, isStore } from "./kinds.js";
import { place, several } from "./words.js";

const COLOURS = 6;
const MOST_ROWS = 48;

export class LaneMap {
  constructor(player, ask) {
    this.player = player;
    this.ask = ask;
    this.line = h("select", { onchange: () => this.draw() });
    this.warp = h("select", { onchange: () => this.draw() });
    this.by = h(
      "select",
      { onchange: () => this.draw() },
      ...["128-byte line", "32-byte sector", "bank", "element"].map(name => h("option", { value: name }, name)),
    );
    this.swap = button("swap the thread order", "exchange the two thread indices and run again", () =>
      this.ask?.({ swapped: !this.player.scene.meta.swapped }),
    );
    this.note = h("p", { class: "gw-quiet" });
    this.map = h("div", { class: "gw-scroll", tabindex: "0", "aria-label": "map" });
    this.node = h(
      "div",
      {},
      h(
        "div",
        { class: "gw-fields" },
        labelled("access", this.line),
        labelled("warp", this.warp),
        labelled("colour by", this.by),
        this.swap,
      ),
      this.note,
      this.map,
    );
    player.listen(what => this.update(what));
    this.update("scene");
  }

  update(what) {
    const { scene } = this.player;
    if (what === "scene") {
      const kept = this.line.value;
      this.line.replaceChildren(
        ...accesses(scene).map(({ key, text }) => h("option", { value: key, selected: key === kept }, text)),
      );
      this.warp.replaceChildren(...Array.from({ length: scene.warps }, (_, n) => h("option", { value: n }, String(n))));
      this.swap.disabled = !this.ask || Boolean(scene.meta.cannotSwap);
      this.draw();
    } else if (what === "step") this.mark();
  }

  draw() {
    const { scene } = this.player;
    const [line, array, kind] = this.line.value.split(":").map(Number);
    const warp = Number(this.warp.value);
    if (!this.line.value) return this.map.replaceChildren();
    const steps = [];
    for (let step = 0; step < scene.steps; step++)
      if (
        scene.column.line[step] === line &&
        scene.column.array[step] === array &&
        scene.kind(step) === kind &&
        scene.warpsOf(step).includes(warp)
      )
        steps.push(step);
    const group = this.grouping(scene.arrays[array]);
    const order = new Map();
    this.rows = steps
      .slice(0, MOST_ROWS)
      .map(step =>
        h(
          "tr",
          { "data-step": step },
          h(
            "th",
            { scope: "row" },
            h("button", { type: "button", onclick: () => this.player.go(step) }, String(step + 1)),
          ),
          ...Array.from({ length: scene.meta.warp }, (_, lane) =>
            this.cell(step, warp * scene.meta.warp + lane, group, order),
          ),
        ),
      );
    const head = h(
      "tr",
      {},
      h("th", {}, "step"),
      ...Array.from({ length: scene.meta.warp }, (_, lane) => h("th", {}, String(lane))),
    );
    this.map.replaceChildren(h("table", { class: "gw-map" }, h("thead", {}, head), h("tbody", {}, this.rows)));
    this.note.textContent =
      this.words(scene, steps, group, warp) +
      (scene.meta.cannotSwap
        ? ` The thread order cannot be swapped: ${scene.meta.cannotSwap}.`
        : scene.meta.swapped
          ? " The thread order is swapped."
          : "") +
      (this.ask ? "" : ` ${OFFLINE}`);
    this.mark();
  }

  // From an element's number to what the cell is coloured by.
  grouping(array) {
    const { meta } = this.player.scene;
    const address = element => array.at + element * array.item_bytes;
    return {
      "128-byte line": e => Math.floor(address(e) / meta.lineBytes),
      "32-byte sector": e => Math.floor(address(e) / meta.sectorBytes),
      bank: e => Math.floor(address(e) / 4) % meta.banks,
      element: e => e,
    }[this.by.value];
  }

  cell(step, thread, group, order) {
    const { scene } = this.player;
    const element = thread < scene.threads ? scene.element(step, thread) : -1;
    if (element < 0) return h("td", { class: "gw-empty" });
    const key = group(element);
    if (!order.has(key)) order.set(key, order.size);
    return h(
      "td",
      {
        class: `gw-colour-${order.get(key) % COLOURS}`,
        title: `${scene.name(thread)}: ${place(scene, scene.column.array[step], element)}`,
      },
      String(key),
    );
  }

  words(scene, steps, group, warp) {
    if (!steps.length) return "This warp never executes that access.";
    const first = steps[0];
    const lanes = scene.members(first).filter(t => Math.floor(t / scene.meta.warp) === warp);
    const across = new Set(lanes.map(t => group(scene.element(first, t)))).size;
    const down = new Set(steps.map(step => group(scene.element(step, lanes[0]))).filter(k => !Number.isNaN(k))).size;
    const what = this.by.value;
    const memory = /line|sector/.test(what);
    return (
      `A row is one request: its lanes touch ${several(across, what)}` +
      `${memory ? "; the fewer, the better coalesced" : ""}. A column is one lane in time: it touches ${down} in ` +
      `${several(steps.length, "execution")}${what === "bank" ? "" : "; the fewer, the more it uses again"}.`
    );
  }

  mark() {
    for (const row of this.rows || [])
      row.classList.toggle("gw-current", Number(row.dataset.step) === this.player.position);
  }
}

// The accesses of the source: line, array and direction.
function accesses(scene) {
  const found = new Map();
  for (let step = 0; step < scene.steps; step++) {
    const kind = scene.kind(step);
    const array = scene.array(step);
    if (!array || array.space === "local" || !(isLoad(kind) || isStore(kind))) continue;
    const key = `${scene.column.line[step]}:${array.number}:${kind}`;
    found.set(key, { key, text: `line ${scene.column.line[step]}: ${isLoad(kind) ? "read" : "write"} ${array.name}` });
  }
  return [...found.values()];
}
