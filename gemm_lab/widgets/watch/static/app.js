// One visualizer: everything around one player.

import { h } from "./dom.js";
import { Controls, takeKey } from "./controls.js";
import { Findings } from "./findings.js";
import { LaneMap } from "./lanemap.js";
import { legend } from "./legend.js";
import { Player } from "./player.js";
import { Predict } from "./predict.js";
import { Problem } from "./problem.js";
import { Provenance } from "./provenance.js";
import { Scheduler } from "./scheduler.js";
import { Phase, Source } from "./source.js";
import { Stage } from "./stage.js";
import { Lens, Monitor } from "./thread.js";
import { Ledger, Totals } from "./totals.js";
import { Traffic } from "./traffic.js";

export const ORDER = "Steps are one legal order, not time.";

export class App {
  constructor(scene, ask) {
    this.player = new Player(scene);
    const { player } = this;
    this.title = h("h3", { class: "gw-name" });
    this.controls = new Controls(player);
    this.problem = new Problem(player, ask);
    const stage = new Stage(player, 520, 500);
    this.node = h(
      "div",
      {
        class: "gw",
        tabindex: "0",
        role: "region",
        "aria-label": "kernel visualizer",
        "data-lm-suppress-shortcuts": "true",
      },
      h("header", {}, this.title, this.problem.follow),
      this.problem.node,
      this.problem.alert,
      this.controls.node,
      this.controls.help,
      new Phase(player).node,
      h(
        "div",
        { class: "gw-main" },
        h("div", { class: "gw-left" }, stage.node),
        h("div", { class: "gw-right" }, new Source(player).node, new Lens(player).node),
      ),
      legend(),
      new Findings(player).node,
      new Traffic(player).node,
      h("div", { class: "gw-accounts" }, new Totals(player).node, new Ledger(player).node),
      h("p", { class: "gw-order" }, ORDER),
      new Monitor(player).node,
      this.explore(player, ask),
    );
    this.node.addEventListener("keydown", event => takeKey(event, this.controls));
    player.listen(what => what === "scene" && this.name());
    this.name();
  }

  name() {
    const { scene } = this.player;
    const { meta } = scene;
    const [x, y] = meta.block;
    const [across, down] = meta.grid;
    this.title.textContent = `${meta.title}, block (${x},${y}) of ${across} × ${down}`;
    this.node.dataset.bytes = scene.bytes;
  }

  explore(player, ask) {
    const tabs = [
      ["You are the scheduler", new Scheduler(player, ask)],
      ["Lane × time", new LaneMap(player, ask)],
      ["Provenance", new Provenance(player)],
      ["Predict", new Predict(player)],
    ];
    return h(
      "div",
      { class: "gw-explore" },
      ...tabs.map(([name, panel]) => h("details", { name: "" }, h("summary", {}, name), panel.node)),
    );
  }

  load(scene) {
    this.problem.explain("");
    this.player.load(scene);
  }

  remove() {
    this.player.playing = false;
  }
}
