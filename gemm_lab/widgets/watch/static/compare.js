// Several kernels on one problem, side by side. They advance so that the same share of the multiplications is done.

import { h, setText } from "./dom.js";
import { Controls, takeKey } from "./controls.js";
import { legend } from "./legend.js";
import { Player } from "./player.js";
import { Phase } from "./source.js";
import { Stage } from "./stage.js";
import { gridSoFar } from "./totals.js";
import { grouped } from "./words.js";

export class Comparison {
  constructor(scenes) {
    this.players = scenes.map(scene => new Player(scene));
    this.player = new Common(this.players);
    this.controls = new Controls(this.player);
    this.rows = [
      "global words read",
      "shared words read",
      "FMAs",
      "words read per FMA",
      "load/store wavefronts",
      "warp-FMAs",
      "w, wavefronts per warp-FMA",
      "whole grid: global words read",
      "whole grid: shared words read",
      "whole grid: FMAs",
    ].map(name => h("tr", {}, h("th", { scope: "row" }, name), ...scenes.map(() => h("td", { class: "gw-number" }))));
    this.node = h(
      "div",
      {
        class: "gw gw-compare",
        tabindex: "0",
        role: "region",
        "aria-label": "kernels side by side",
        "data-lm-suppress-shortcuts": "true",
      },
      this.controls.node,
      this.controls.help,
      h(
        "div",
        { class: "gw-sides" },
        ...this.players.map(player =>
          h(
            "section",
            { class: "gw-side", "aria-label": player.scene.meta.label },
            h("h3", { class: "gw-name" }, player.scene.meta.title),
            new Phase(player).node,
            new Stage(player, 425, 400).node,
          ),
        ),
      ),
      h(
        "table",
        { class: "gw-totals" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", {}, "one block each, so far"),
            ...scenes.map(scene => h("th", { scope: "col" }, scene.meta.label)),
          ),
        ),
        h("tbody", {}, this.rows),
      ),
      legend(),
      h(
        "p",
        { class: "gw-order" },
        "Steps are one legal order, not time. All sides have done about the same share of their multiplications.",
      ),
    );
    this.node.addEventListener("keydown", event => takeKey(event, this.controls));
    this.player.listen(() => this.update());
    this.update();
  }

  update() {
    this.players.forEach(({ scene, position }, side) => {
      const at = Object.fromEntries(Object.entries(scene.sums).map(([name, sums]) => [name, sums[position]]));
      const grid = gridSoFar(scene, position);
      const ratio = (a, b) => (b ? (a / b).toFixed(3) : "–");
      [
        grouped(at.global),
        grouped(at.shared),
        grouped(at.fma),
        ratio(at.global + at.shared, at.fma),
        grouped(at.wavefronts),
        grouped(at.slots),
        ratio(at.wavefronts, at.slots),
        grouped(grid.global),
        grouped(grid.shared),
        grouped(grid.fma),
      ].forEach((text, row) => setText(this.rows[row].children[side + 1], text));
    });
  }

  load(...scenes) {
    this.players.forEach((player, n) => player.load(scenes[n]));
    this.player.align();
  }

  remove() {
    this.player.playing = false;
  }
}

// Positions that belong together: whoever has done the smaller share of its multiplications goes next.
export function aligned(scenes) {
  const share = (scene, step) => scene.sums.fma[step] / Math.max(scene.sums.fma.at(-1), 1);
  const at = scenes.map(() => 0);
  const found = [[...at]];
  while (at.some((step, n) => step < scenes[n].steps - 1)) {
    const ahead = at.map((step, n) => (step < scenes[n].steps - 1 ? share(scenes[n], step + 1) : Infinity));
    const least = Math.min(...ahead);
    ahead.forEach((value, n) => {
      if (value === least && at[n] < scenes[n].steps - 1) at[n]++;
    });
    found.push([...at]);
  }
  return found;
}

// One player that moves several.
class Common extends Player {
  constructor(players) {
    super(players[0].scene);
    this.players = players;
    this.align();
  }

  align() {
    this.stops = aligned(this.players.map(player => player.scene));
    this.position = 0;
    this.tell("scene");
  }

  get last() {
    return this.stops ? this.stops.length - 1 : 0;
  }

  go(position) {
    const to = Math.max(0, Math.min(this.last, Math.round(position)));
    if (to === this.position) return;
    this.position = to;
    this.players.forEach((player, n) => player.go(this.stops[to][n]));
    this.tell("step");
  }

  follow(thread) {
    for (const player of this.players) player.follow(thread);
  }

  // The next stop at which one of the kernels changes its phase.
  nextPhase() {
    this.go(this.change(1));
  }
  previousPhase() {
    this.go(this.change(-1));
  }

  change(by) {
    const phases = stop => this.stops[stop].map((step, n) => this.players[n].scene.column.phase[step]).join();
    let stop = this.position;
    while (stop + by >= 0 && stop + by <= this.last && phases(stop + by) === phases(this.position)) stop += by;
    return stop + by;
  }
}
