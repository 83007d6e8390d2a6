// The problem: preset, sizes, tile parameters, block, thread. A change of the first three runs the emulator again.

import { button, h, keepFocus, labelled, setText } from "./dom.js";
import { choice } from "./controls.js";

export const OFFLINE =
  "This page was saved without a kernel. It plays this one execution; another size, tile, block, thread order or " +
  "order of the warps needs the notebook.";

export class Problem {
  // ask(request): run the emulator with something changed; null where there is no kernel to ask
  constructor(player, ask) {
    this.player = player;
    this.ask = ask;
    this.alert = h("p", { class: "gw-alert", role: "alert", hidden: true });
    this.fields = h("div", { class: "gw-fields" });
    this.node = h("details", { class: "gw-problem" }, h("summary", {}, "Problem and tiles"), this.fields);
    this.follow = h("div", { class: "gw-follow" });
    player.listen(what => this.update(what));
    this.update("scene");
  }

  update(what) {
    const { player } = this;
    const { scene } = player;
    if (what === "scene") {
      keepFocus(this.fields, () => this.build());
      const names = Array.from({ length: scene.threads }, (_, t) => [t, scene.name(t)]);
      const threads = choice("follow thread", names, player.thread, t => player.follow(Number(t)));
      keepFocus(this.follow, () => this.follow.replaceChildren(threads, ...this.blocks()));
    }
    if (what === "thread") this.follow.querySelector("select").value = player.thread;
  }

  blocks() {
    const { meta } = this.player.scene;
    const [across, down] = meta.grid;
    const names = Array.from({ length: across * down }, (_, n) => [
      `${n % across},${Math.floor(n / across)}`,
      `(${n % across},${Math.floor(n / across)})`,
    ]);
    if (!this.ask)
      return [h("span", { class: "gw-field" }, h("span", {}, "of block"), ` (${meta.block[0]},${meta.block[1]})`)];
    return [
      choice("of block", names, `${meta.block[0]},${meta.block[1]}`, value =>
        this.run({ block: value.split(",").map(Number) }),
      ),
    ];
  }

  build() {
    const { meta } = this.player.scene;
    if (!this.ask) {
      this.fields.replaceChildren(h("p", {}, OFFLINE));
      return;
    }
    const presets = [["", "choose …"], ...meta.presets.map(name => [name, name])];
    this.inputs = new Map();
    const sizes = ["M", "N", "K"].map((name, n) => this.number(name, meta.size[n]));
    this.fields.replaceChildren(
      choice("preset", presets, "", name => name && this.run({ preset: name })),
      h("fieldset", {}, h("legend", {}, "problem"), ...sizes),
      meta.parameters.length
        ? h("fieldset", {}, h("legend", {}, meta.label.split("(")[0]), ...meta.parameters.map(p => this.parameter(p)))
        : h("p", { class: "gw-quiet" }, `The tiles of ${meta.label} are fixed in its source.`),
      button("run", "run the emulator with these numbers", () => this.run(this.request()), { class: "gw-run" }),
    );
  }

  number(name, value) {
    const input = h("input", {
      type: "number",
      min: 1,
      max: 1024,
      value,
      size: 4,
      onkeydown: event => event.key === "Enter" && this.run(this.request()),
    });
    this.inputs.set(name, input);
    return labelled(name, input);
  }

  parameter({ name, value }) {
    if (typeof value === "boolean") {
      const input = h("input", { type: "checkbox", checked: value });
      this.inputs.set(name, input);
      return labelled(name, input);
    }
    if (!Array.isArray(value)) return this.number(name, value);
    return h("span", { class: "gw-pair" }, ...value.map((n, axis) => this.number(`${name} ${"xy"[axis]}`, n)));
  }

  request() {
    const { meta } = this.player.scene;
    const read = name => {
      const input = this.inputs.get(name);
      return input.type === "checkbox" ? input.checked : input.value === "" ? null : Number(input.value);
    };
    const fields = Object.fromEntries(
      meta.parameters.map(({ name, value }) => [
        name,
        Array.isArray(value) ? value.map((_, axis) => read(`${name} ${"xy"[axis]}`)) : read(name),
      ]),
    );
    return { M: read("M"), N: read("N"), K: read("K"), fields };
  }

  run(request) {
    this.player.play(false);
    this.ask({ thread: this.player.thread, ...request });
  }

  // Why the last choice is impossible; empty if it is not.
  explain(problem) {
    setText(this.alert, problem);
    this.alert.hidden = !problem;
  }
}
