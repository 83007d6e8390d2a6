// Running totals against the closed form, and the ledger: load/store pipe against FMA issue.

import { h, setAttribute, setText } from "./dom.js";
import { END } from "./kinds.js";
import { grouped, several } from "./words.js";

// Warp instructions that an SM of the H200 issues while its load/store pipe passes one wavefront.
const FMA_PER_CLOCK = 4;

export class Totals {
  constructor(player) {
    this.player = player;
    this.rows = ["global words read", "shared words read", "FMAs", "words read per FMA"].map(name =>
      h("tr", {}, h("th", { scope: "row" }, name), ...Array.from({ length: 4 }, () => h("td", { class: "gw-number" }))),
    );
    this.node = h(
      "table",
      { class: "gw-totals" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ...["", "block so far", "block in all", "grid so far", "grid on paper"].map(t =>
            h("th", { scope: "col" }, t),
          ),
        ),
      ),
      h("tbody", {}, this.rows),
    );
    player.listen(what => what !== "playing" && this.update());
    this.update();
  }

  update() {
    const { scene, position } = this.player;
    const { sums, meta } = scene;
    const end = scene.steps - 1;
    const grid = gridSoFar(scene, position);
    const paper = { global: meta.paper.global_load_words, shared: meta.paper.shared_load_words, fma: meta.paper.fma };
    ["global", "shared", "fma"].forEach((name, n) =>
      this.fill(n, [sums[name][position], sums[name][end], grid[name], paper[name]].map(whole)),
    );
    const ratio = ({ global, shared, fma }) => (fma ? ((global + shared) / fma).toFixed(3) : "–");
    const at = step => ({ global: sums.global[step], shared: sums.shared[step], fma: sums.fma[step] });
    this.fill(3, [
      ratio(at(position)),
      ratio(at(end)),
      ratio(grid),
      paper.fma === undefined ? "no formula" : ratio(paper),
    ]);
  }

  fill(row, texts) {
    texts.forEach((text, n) => setText(this.rows[row].children[n + 1], text));
  }
}

// What all blocks have read and multiplied; at the end that is what was counted.
export function gridSoFar(scene, position) {
  const { column, meta } = scene;
  const done = scene.kind(position) === END && meta.completed ? meta.counts : null;
  return {
    global: done?.global_load_words ?? column.launch_global[position],
    shared: done?.shared_load_words ?? column.launch_shared[position],
    fma: done?.fma ?? column.launch_fma[position],
  };
}

const whole = number => (number === undefined ? "no formula" : grouped(number));

export class Ledger {
  constructor(player) {
    this.player = player;
    this.bars = ["load/store pipe", "FMA issue"].map((name, n) => ({
      bar: h("span", { class: `gw-bar gw-bar-${n ? "fma" : "pipe"}` }),
      text: h("span", { class: "gw-number" }),
      name,
    }));
    this.words = h("p", {});
    this.node = h(
      "section",
      { class: "gw-ledger", "aria-label": "ledger" },
      h("h4", {}, "Ledger: cost, not clock"),
      ...this.bars.map(({ bar, text, name }) =>
        h("div", { class: "gw-account" }, h("span", {}, name), h("span", { class: "gw-track" }, bar), text),
      ),
      this.words,
    );
    player.listen(what => what !== "playing" && this.update());
    this.update();
  }

  update() {
    const { scene, position } = this.player;
    const { sums } = scene;
    const end = scene.steps - 1;
    const pipe = sums.wavefronts[position];
    const slots = sums.slots[position];
    const most = Math.max(sums.wavefronts[end], sums.slots[end] / FMA_PER_CLOCK, 1);
    [
      [pipe, several(pipe, "wavefront")],
      [slots / FMA_PER_CLOCK, `${several(slots, "warp-FMA")}, ${FMA_PER_CLOCK} in the space of a wavefront`],
    ].forEach(([length, text], n) => {
      setAttribute(this.bars[n].bar, "style", `width: ${((100 * length) / most).toFixed(1)}%`);
      setText(this.bars[n].text, text);
    });
    setText(this.words, slots ? this.law(pipe / slots, sums.fma[position] / slots) : "");
  }

  law(w, lanes) {
    const { meta } = this.player.scene;
    const cap = Math.min(FMA_PER_CLOCK, 1 / w) * meta.cap;
    const allows =
      lanes === meta.warp
        ? `On an ${meta.gpu} that allows at most ${cap.toFixed(1)} TFLOPS.`
        : `Only ${lanes.toFixed(lanes % 1 ? 1 : 0)} of ${meta.warp} lanes of a warp work here.`;
    const lines = meta.ptxLines.length
      ? ` In lines ${meta.ptxLines.join(", ")} shared accesses are counted as the PTX has them.`
      : "";
    return `w = ${w.toFixed(2)} wavefronts per warp-FMA so far. ${allows}${lines}`;
  }
}
