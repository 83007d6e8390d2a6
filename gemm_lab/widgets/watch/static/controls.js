// Play, pause, step, scrub, speed; and the same by keyboard.

import { button, h, labelled, setAttribute, setText } from "./dom.js";

const SPEEDS = [1, 2, 4, 8, 16, 30, 60]; // steps in a second
export const KEYS = [
  ["Space", "play or pause"],
  ["← →", "one step back or forward"],
  ["Shift ← →", "to the phase before or after"],
  ["Home End", "first or last step"],
  ["+ −", "faster or slower"],
  ["[ ]", "follow the thread before or after"],
  ["?", "this list"],
];

export class Controls {
  constructor(player) {
    this.player = player;
    const at = action => () => {
      player.play(false);
      action();
    };
    this.playButton = button("play", "play", () => player.play(), { class: "gw-play" });
    this.slider = h("input", {
      type: "range",
      min: 0,
      step: 1,
      class: "gw-scrub",
      "aria-label": "step",
      oninput: () => this.scrub(Number(this.slider.value)),
    });
    this.count = h("output", { class: "gw-count" });
    this.speed = h(
      "select",
      {
        "aria-label": "speed",
        onchange: () => {
          player.speed = Number(this.speed.value);
        },
      },
      ...SPEEDS.map(n => h("option", { value: n, selected: n === player.speed }, `${n} steps/s`)),
    );
    this.help = h(
      "dl",
      { class: "gw-keys", hidden: true },
      ...KEYS.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]),
    );
    this.node = h(
      "div",
      { class: "gw-controls", role: "toolbar", "aria-label": "playback" },
      button(
        "reset",
        "reset to the first step",
        at(() => player.go(0)),
      ),
      button(
        "◀ phase",
        "previous phase",
        at(() => player.previousPhase()),
      ),
      button(
        "◀ step",
        "one step back",
        at(() => player.go(player.position - 1)),
        { class: "gw-back" },
      ),
      this.playButton,
      button(
        "step ▶",
        "one step forward",
        at(() => player.forward()),
        { class: "gw-forward" },
      ),
      button(
        "phase ▶",
        "next phase",
        at(() => player.nextPhase()),
        { class: "gw-next-phase" },
      ),
      this.slider,
      this.count,
      this.speed,
      button("?", "keyboard", () => this.toggleHelp(), { "aria-expanded": "false", class: "gw-help" }),
    );
    player.listen(() => this.update());
    this.update();
  }

  update() {
    const { player } = this;
    setAttribute(this.slider, "max", player.last);
    if (Number(this.slider.value) !== player.position) this.slider.value = player.position;
    setAttribute(this.slider, "aria-valuetext", `step ${player.position + 1} of ${player.last + 1}`);
    setText(this.count, `step ${player.position + 1} of ${player.last + 1}`);
    setText(this.playButton, player.playing ? "pause" : "play");
    setAttribute(this.playButton, "aria-label", player.playing ? "pause" : "play");
    setAttribute(this.playButton, "title", player.playing ? "pause" : "play");
  }

  scrub(position) {
    this.player.play(false);
    this.player.go(position);
  }

  toggleHelp() {
    this.help.hidden = !this.help.hidden;
    setAttribute(this.node.querySelector(".gw-help"), "aria-expanded", String(!this.help.hidden));
  }

  faster(by) {
    const { player } = this;
    const n = SPEEDS.indexOf(player.speed);
    player.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, n + by))];
    this.speed.value = player.speed;
  }

  // Whether a key was one of ours.
  key(event) {
    const { player } = this;
    const phase = event.shiftKey;
    const actions = {
      " ": () => player.play(),
      ArrowRight: () => (phase ? player.nextPhase() : player.forward()),
      ArrowLeft: () => (phase ? player.previousPhase() : player.go(player.position - 1)),
      Home: () => player.go(0),
      End: () => player.go(player.last),
      "+": () => this.faster(1),
      "=": () => this.faster(1),
      "-": () => this.faster(-1),
      "[": () => player.follow(player.thread - 1),
      "]": () => player.follow(player.thread + 1),
      "?": () => this.toggleHelp(),
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key !== " " && !["+", "=", "-", "?"].includes(event.key)) player.play(false);
    action();
    return true;
  }
}

// What a key does in the visualizer. A field, list or button has the keys that it needs itself; and no key goes on to
// the notebook, which would take an arrow in a list for a wish to see the next cell.
export function takeKey(event, controls) {
  const { target, key } = event;
  const field = /^(INPUT|SELECT|TEXTAREA|SUMMARY)$/.test(target.tagName) && target.type !== "range";
  const pressed = target.tagName === "BUTTON" && (key === " " || key === "Enter");
  if (!field && !pressed && controls.key(event)) event.preventDefault();
  if (key !== "Tab" && key !== "Escape" && !event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
}

export const choice = (label, options, value, change) => {
  const list = h(
    "select",
    { onchange: () => change(list.value) },
    ...options.map(([v, text]) => h("option", { value: v, selected: String(v) === String(value) }, text)),
  );
  return labelled(label, list);
};
