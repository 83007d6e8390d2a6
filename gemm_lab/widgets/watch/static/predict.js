// Predict: say which cells, banks or warps the next instruction will touch, then step.

import { banksOf, requestsOf } from "./costs.js";
import { button, h } from "./dom.js";
import { choice } from "./controls.js";
import { CellChooser } from "./provenance.js";
import { END, isCompute } from "./kinds.js";
import { legend } from "./legend.js";
import { place } from "./words.js";

const WHAT = [
  ["mine", "cells of the followed thread"],
  ["block", "cells of the whole block"],
  ["banks", "banks of the followed warp"],
  ["warps", "warps that take part"],
];

export class Predict {
  constructor(player) {
    this.player = player;
    this.what = "mine";
    this.score = { right: 0, asked: 0 };
    this.question = h("p", { class: "gw-question" });
    this.answer = h("p", { class: "gw-result", role: "status" });
    this.start = button("start predicting", "click what the next instruction will touch", () => this.begin());
    this.node = h(
      "div",
      {},
      h(
        "p",
        {},
        "Click in the picture what the next instruction will touch: cells, or a bank or a warp in the rows below it. " +
          "Then step.",
      ),
      legend("predict"),
      h(
        "div",
        { class: "gw-fields" },
        choice("predict", WHAT, this.what, value => {
          this.what = value;
          if (player.guesses) this.begin();
        }),
        this.start,
        button("stop", "stop predicting", () => this.end()),
      ),
      this.question,
      new CellChooser(player, "mark", cell => player.guesses && player.guess("cells", `${cell.array}:${cell.element}`))
        .node,
      this.answer,
    );
    player.listen(what => what === "scene" && this.end());
  }

  begin() {
    const { player } = this;
    player.play(false);
    player.guesses = this.nothing();
    player.judge = () => this.judge();
    this.answer.textContent = "";
    this.ask();
    player.tell("marks");
  }

  nothing() {
    return { what: this.what, cells: new Set(), banks: new Set(), warps: new Set() };
  }

  end() {
    const { player } = this;
    const running = player.guesses;
    player.guesses = player.judge = null;
    this.question.textContent = "";
    if (running) player.tell("marks");
  }

  ask() {
    const { scene, position, thread } = this.player;
    const next = position + 1;
    if (next >= scene.steps || scene.kind(next) === END) {
      this.question.textContent = "That was the last instruction.";
      return;
    }
    const kind = scene.meta.kinds[scene.kind(next)];
    const line = scene.column.line[next];
    const multiplies = isCompute(scene.kind(next));
    const cells = who => (multiplies ? `Which cells hold what ${who} multiplies?` : `Which cells does ${who} touch?`);
    const asked = {
      mine: cells(scene.name(thread)),
      block: cells("the block"),
      banks: "Which banks does the followed warp want words from?",
      warps: "Which warps take part?",
    }[this.what];
    this.question.textContent = `Next: line ${line}, ${kind}. ${asked}`;
  }

  // Compare the guesses with the next step, which the player is about to show.
  judge() {
    const { player } = this;
    const { scene, position, thread, guesses } = player;
    const next = position + 1;
    if (next >= scene.steps) return;
    const [guessed, actual, name] = this.sets(scene, next, thread, guesses);
    const hit = [...guessed].filter(key => actual.has(key)).length;
    const missed = [...actual].filter(key => !guessed.has(key));
    const extra = guessed.size - hit;
    const right = !extra && !missed.length;
    if (guessed.size) {
      this.score.asked++;
      this.score.right += right;
      const names = missed.slice(0, 4).map(name).join(", ") + (missed.length > 4 ? ", …" : "");
      const verdict = right
        ? "Right."
        : `${hit} right, ${extra} not touched, ${missed.length} missed${names && `: ${names}`}.`;
      this.answer.textContent = `${verdict} ${this.score.right} of ${this.score.asked} predictions right.`;
    }
    player.guesses = this.nothing();
    queueMicrotask(() => this.ask());
  }

  // (what was guessed, what is, how to name one)
  sets(scene, step, thread, guesses) {
    if (this.what === "warps") return [guesses.warps, new Set(scene.warpsOf(step).map(String)), warp => `warp ${warp}`];
    if (this.what === "banks") {
      const warp = Math.floor(thread / scene.meta.warp);
      const request = requestsOf(scene, step).find(r => r.warp === warp);
      const banks = request && scene.array(step).space === "shared" ? banksOf(scene, request) : [];
      return [
        guesses.banks,
        new Set(banks.flatMap((count, bank) => (count ? [String(bank)] : []))),
        bank => `bank ${bank}`,
      ];
    }
    const touched = scene.touched(step, this.what === "mine" ? thread : null);
    const keys = [...touched].flatMap(([array, elements]) => [...elements].map(element => `${array}:${element}`));
    return [guesses.cells, new Set(keys), key => place(scene, ...key.split(":").map(Number))];
  }
}
