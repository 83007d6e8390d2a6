// What is wrong with the kernel, and the way to the step where it happens.

import { button, h } from "./dom.js";
import { place } from "./words.js";

export class Findings {
  constructor(player) {
    this.player = player;
    this.node = h("section", { class: "gw-findings", "aria-label": "findings" });
    player.listen(what => what === "scene" && this.build());
    this.build();
  }

  build() {
    const { scene } = this.player;
    const { findings, spots } = scene.meta;
    this.node.hidden = !findings.length;
    this.node.replaceChildren(
      ...findings.map((finding, number) => {
        const spot = spots.find(s => s.finding === number);
        return h(
          "p",
          { class: "gw-alert" },
          h("b", {}, finding.kind),
          `: ${finding.message} `,
          ...(spot ? this.links(spot) : []),
        );
      }),
    );
  }

  links(spot) {
    const { player } = this;
    const { scene } = player;
    const at = place(scene, spot.array, spot.index);
    return spot.steps.map((step, n) =>
      button(
        `${scene.name(spot.threads[n])} at ${at}, step ${step + 1}`,
        `go to step ${step + 1}`,
        () => {
          player.play(false);
          player.follow(spot.threads[n]);
          player.go(step);
        },
        { class: "gw-link" },
      ),
    );
  }
}
