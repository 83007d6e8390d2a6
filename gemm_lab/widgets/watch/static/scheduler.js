// You are the scheduler: take a barrier away, give the turns to the warps, and see whether C stays right.

import { button, h, keepFocus } from "./dom.js";
import { legend } from "./legend.js";
import { OFFLINE } from "./problem.js";

export class Scheduler {
  constructor(player, ask) {
    this.player = player;
    this.ask = ask;
    this.barriers = h("fieldset", {});
    const offline = ask ? [] : [h("p", { class: "gw-quiet" }, OFFLINE)];
    this.turns = h("ol", { class: "gw-turns", "aria-label": "turns that you gave" });
    this.warps = h("div", { class: "gw-fields" });
    this.result = h("p", { class: "gw-result", role: "status" });
    this.node = h(
      "div",
      {},
      h(
        "p",
        {},
        "On a GPU the warps of a block run in any order. A turn lasts until the warp waits at a barrier or ends; " +
          "when your list is used up, the lowest-numbered warp that can run goes on. Can you make C wrong?",
      ),
      ...offline,
      this.barriers,
      this.warps,
      this.turns,
      this.result,
      legend("scheduler"),
    );
    player.listen(what => what === "scene" && keepFocus(this.node, () => this.build()));
    this.build();
  }

  build() {
    const { scene } = this.player;
    const { meta } = scene;
    this.order = Array.isArray(meta.order) ? [...meta.order] : [];
    this.lockstep = !Array.isArray(meta.order) && meta.order === "lockstep";
    this.barriers.replaceChildren(
      h("legend", {}, "barriers"),
      ...(meta.barriers.length
        ? meta.barriers.map(line => this.barrier(line))
        : [h("span", {}, "this kernel has none")]),
    );
    this.warps.replaceChildren(...this.choices());
    this.showTurns();
    this.result.textContent = this.verdict();
  }

  barrier(line) {
    const { meta } = this.player.scene;
    const box = h("input", {
      type: "checkbox",
      "data-name": `line ${line}`,
      checked: !meta.removed.includes(line),
      disabled: !this.ask,
      onchange: () => {
        const removed = box.checked ? meta.removed.filter(n => n !== line) : [...meta.removed, line];
        this.run({ removed });
      },
    });
    return h("label", { class: "gw-field" }, box, h("span", {}, `line ${line}`));
  }

  choices() {
    const { scene } = this.player;
    const offline = !this.ask;
    if (scene.warps === 1)
      return [
        h(
          "p",
          {},
          `All ${scene.threads} threads of this block are in one warp, so there is nothing to schedule. ` +
            "Choose the preset 16, 16, 4, 4.",
        ),
      ];
    return [
      button("lockstep", "all warps advance together", () => this.run({ order: "lockstep" }), {
        "aria-pressed": String(this.lockstep),
        disabled: offline,
      }),
      ...Array.from({ length: Math.min(scene.warps, 32) }, (_, warp) =>
        button(
          `warp ${warp} next`,
          `give warp ${warp} the next turn`,
          () => this.run({ order: [...this.order, warp] }),
          { disabled: offline },
        ),
      ),
      button(
        "undo",
        "take the last turn back",
        () => this.run({ order: this.order.length > 1 ? this.order.slice(0, -1) : "lockstep" }),
        { disabled: offline || !this.order.length },
      ),
    ];
  }

  // The turns as they were executed; those that the viewer gave first.
  showTurns() {
    const { player } = this;
    const { scene } = player;
    if (this.lockstep || scene.warps === 1) return this.turns.replaceChildren();
    this.turns.replaceChildren(
      ...scene.turns().map(({ warp, step }, n) =>
        h(
          "li",
          {},
          button(`warp ${warp}`, `go to turn ${n + 1}, step ${step + 1}`, () => player.go(step), {
            class: n < this.order.length ? "gw-given" : "",
          }),
        ),
      ),
    );
  }

  verdict() {
    const { column, meta } = this.player.scene;
    const wrong = count(column.wrong);
    const differs = count(column.differs);
    const all = column.C.length;
    const races = meta.findings.filter(finding => finding.kind === "race").length;
    const parts = [wrong ? `C is wrong: ${wrong} of ${all} elements.` : "C is right in this order."];
    if (!this.lockstep)
      parts.push(
        differs
          ? `Lockstep gives another C: ${differs} elements differ, so the order decides the result.`
          : "Lockstep gives the same C.",
      );
    const found = races === 1 ? "One race was" : `${races} races were`;
    if (races)
      parts.push(
        `${found} found: ${wrong || differs ? "this order shows it" : "that the values are right proves nothing"}.`,
      );
    return parts.join(" ");
  }

  run(request) {
    this.player.play(false);
    this.ask?.({ thread: this.player.thread, ...request });
  }
}

const count = flags => flags.reduce((sum, flag) => sum + flag, 0);
