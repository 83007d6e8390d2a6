// What the marks mean. Every one has a letter or a line of its own beside its colour.

import { h } from "./dom.js";

const MARKS = {
  picture: [
    ["gw-key-mine", "R W", "the followed thread reads or writes"],
    ["gw-key-operand", "×", "it multiplies"],
    ["gw-key-block", "•", "the block touches"],
    ["gw-key-used", "", "all that the thread uses"],
    ["gw-key-own", "", "its part of C, with running sums"],
    ["gw-key-part", "", "the block's part of C"],
    ["gw-key-copied", "", "copied in shared memory"],
    ["gw-key-older", "", "stored before the last barrier"],
    ["gw-key-empty", "", "empty until stored"],
    ["gw-key-alert", "!", "a finding (in small cells a dark corner)"],
  ],
  provenance: [
    ["gw-key-picked", "", "the cell you chose"],
    ["gw-key-related", "", "what its value goes into, or is made of"],
  ],
  predict: [["gw-key-guess", "?", "your guess (in small cells a dark corner)"]],
  scheduler: [["gw-key-differs", "≠", "an element of C that is wrong, or not as in lockstep, at the last step"]],
};

export function legend(part = "picture") {
  return h(
    "ul",
    { class: "gw-legend", "aria-label": "legend" },
    ...MARKS[part].map(([name, letter, text]) =>
      h("li", {}, h("span", { class: `gw-key ${name}`, "aria-hidden": "true" }, letter), text),
    ),
  );
}
