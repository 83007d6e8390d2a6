// The history of one element: click A or B for where its copies went, click C for what it was made of.

import { button, h, labelled } from "./dom.js";
import { FMA, GLOBAL_LOAD, SHARED_LOAD, isCompute, isLoad } from "./kinds.js";
import { legend } from "./legend.js";
import { place, region, several, short } from "./words.js";

export class Provenance {
  constructor(player) {
    this.player = player;
    this.report = h("div", { class: "gw-report", "aria-live": "polite" });
    this.node = h(
      "div",
      {},
      h("p", {}, "Click a cell of A, B or C in the picture, or name it here."),
      legend("provenance"),
      new CellChooser(player, "show", cell => player.pick(cell)).node,
      this.report,
    );
    player.listen(what => this.update(what));
    this.update("scene");
  }

  update(what) {
    if (what !== "scene" && what !== "marks") return;
    const { player } = this;
    const { scene, picked } = player;
    const key = picked ? `${picked.array}:${picked.element}` : "";
    if (what === "marks" && key === this.shown) return;
    this.shown = key;
    if (!picked) {
      player.related = null;
      this.report.replaceChildren();
      return;
    }
    const { role, space } = scene.arrays[picked.array];
    const story =
      role === "C"
        ? storyOfResult(scene, picked)
        : space === "global"
          ? storyOfInput(scene, picked)
          : storyOfTile(scene, picked, player.position);
    player.related = story.related;
    this.report.replaceChildren(h("h4", {}, story.title), h("ul", {}, ...story.lines.map(line => h("li", {}, line))));
    queueMicrotask(() => player.tell("marks"));
  }
}

// Naming a cell instead of clicking it: for the keyboard.
export class CellChooser {
  constructor(player, verb, use) {
    const list = h("select", {});
    const [row, column] = ["row", "column"].map(() => h("input", { type: "number", min: 0, value: 0 }));
    const build = () =>
      list.replaceChildren(
        ...player.scene.arrays
          .filter(array => array.space !== "local")
          .map(array => h("option", { value: array.number }, array.name)),
      );
    const chosen = () => {
      if (!list.value) return; // the block reached no array
      const { number, rows, columns } = player.scene.arrays[Number(list.value)];
      const r = Number(row.value);
      const c = Number(column.value);
      if (r >= 0 && c >= 0 && r < rows && c < columns) use({ array: number, element: r * columns + c });
    };
    player.listen(what => what === "scene" && build());
    build();
    this.node = h(
      "div",
      { class: "gw-fields" },
      labelled("array", list),
      labelled("row", row),
      labelled("column", column),
      button(verb, `${verb} this cell`, chosen),
    );
  }
}

// All multiplications of the block: for each the cells behind its operands.
export function products(scene) {
  if (!scene.productList) {
    scene.productList = [];
    for (let step = 0; step < scene.steps; step++)
      if (isCompute(scene.kind(step)) && scene.phase(step) === "multiply")
        for (const thread of scene.members(step))
          scene.productList.push({
            step,
            thread,
            chain: scene.column.chain[step],
            paths: [0, 1].map(operand => scene.path(step, operand, thread)),
          });
  }
  return scene.productList;
}

const has = (path, { array, element }) => path.some(cell => cell.array === array && cell.element === element);

function relate(related, array, element) {
  related.set(array, (related.get(array) || new Set()).add(element));
}

export function storyOfInput(scene, cell) {
  const { column } = scene;
  const related = new Map();
  const name = place(scene, cell.array, cell.element);
  const reads = column[`reads${cell.array}`]?.[cell.element] ?? 0;
  let global = 0;
  const copies = new Map();
  const loads = new Set();
  for (let step = 0; step < scene.steps; step++)
    if (scene.kind(step) === GLOBAL_LOAD && column.array[step] === cell.array)
      for (const thread of scene.members(step)) {
        const first = scene.element(step, thread);
        if (cell.element >= first && cell.element < first + scene.width(step)) global++;
      }
  const fed = products(scene).filter(({ paths }) => paths.some(path => has(path, cell)));
  for (const { thread, chain, paths } of fed) {
    for (const path of paths.filter(p => has(p, cell))) {
      loads.add(`${path[0].load}:${thread}`);
      for (const { array, element } of path)
        if (array !== cell.array) {
          relate(related, array, element);
          copies.set(`${array}:${element}`, place(scene, array, element));
        }
    }
    const target = chain >= 0 && scene.target(chain, thread);
    if (target) relate(related, target.array, target.element);
  }
  const shared = [...loads].filter(key => scene.kind(Number(key.split(":")[0])) === SHARED_LOAD).length;
  const results = [...(related.get(scene.arrays.find(a => a.role === "C")?.number) || [])];
  const lines = [
    `value ${short(scene.content(cell.array, cell.element, 0))}`,
    `read from global memory ${times(reads)} by the whole grid, ${times(global)} by this block`,
  ];
  if (copies.size)
    lines.push(`copied to ${[...copies.values()].join(", ")}, and read there ${times(shared)} by this block`);
  lines.push(
    `used from a register in ${fed.length} multiplication${fed.length === 1 ? "" : "s"} of this block` +
      (results.length ? `: for C ${region(scene, scene.arrays.find(a => a.role === "C").number, results)}` : ""),
  );
  if (loads.size)
    lines.push(
      `that is ${(fed.length / loads.size).toLocaleString("en-US")} for each time it was loaded to be multiplied`,
    );
  return { title: `${name}: where it goes`, lines, related };
}

export function storyOfResult(scene, cell) {
  const related = new Map();
  const name = place(scene, cell.array, cell.element);
  for (let thread = 0; thread < scene.threads; thread++)
    for (let chain = 0; chain < scene.chainSteps.length; chain++) {
      const target = scene.target(chain, thread);
      if (!target || target.element !== cell.element) continue;
      const made = products(scene).filter(p => p.thread === thread && p.chain === chain && scene.kind(p.step) === FMA);
      for (const { paths } of made)
        for (const path of paths) for (const { array, element } of path) relate(related, array, element);
      const terms = made.map(
        p => `${short(scene.operand(p.step, 0, thread))}·${short(scene.operand(p.step, 1, thread))}`,
      );
      const sum = scene.accumulator(chain, thread, scene.steps - 1);
      const loads = ({ paths }) => paths.map(path => path[0]?.load);
      const own = new Set(made.flatMap(loads));
      const others = new Set(products(scene).filter(p => p.thread === thread && p.chain !== chain).flatMap(loads));
      const both = [...own].filter(load => others.has(load)).length;
      return {
        title: `${name}: what it is made of`,
        related,
        lines: [
          `${scene.name(thread)} computes it in its accumulator ${chain}, in ${made.length} multiplications`,
          `${terms.slice(0, 16).join(" + ")}${terms.length > 16 ? " + …" : ""} = ${short(sum?.value)}`,
          `from ${several(own.size, "load")}, of which ${both || "none"} also serve${both === 1 ? "s" : ""} ` +
            "other elements of the thread",
        ],
      };
    }
  return { title: name, related, lines: ["no thread of this block computes it"] };
}

export function storyOfTile(scene, cell, position) {
  const related = new Map();
  const written = scene.lastWrite(cell.array, cell.element, position + 1);
  const name = place(scene, cell.array, cell.element);
  if (!written) return { title: name, related, lines: ["empty: nobody has stored anything here yet"] };
  const from = scene.origin(written.step, written.k, written.thread);
  const source =
    from && isLoad(scene.kind(from.step))
      ? { array: scene.column.array[from.step], element: scene.element(from.step, written.thread) + from.element }
      : null;
  if (source) relate(related, source.array, source.element);
  return {
    title: name,
    related,
    lines: [
      `holds ${short(written.value)}, stored by ${scene.name(written.thread)} in step ${written.step + 1}`,
      source
        ? `a copy of ${place(scene, source.array, source.element)}`
        : "not a copy of a matrix element: a zero beyond the edge, or a result",
    ],
  };
}

const times = n => (n === 1 ? "once" : n === 2 ? "twice" : `${n} times`);
