// What the marks mean. Every one has a letter or a line of its own beside its colour.

import { h } from "./dom.js";

const MARKS = [
  ["gw-key-mine", "R W", "the followed thread reads or writes"],
  ["gw-key-operand", "×", "it multiplies"],
  ["gw-key-block", "•", "the block touches"],
  ["gw-key-used", "", "all that the thread uses"],
  ["gw-key-own", "", "its part of C, with running sums"],
  ["gw-key-part", "", "the block's part of C"],
  ["gw-key-copied", "", "copied in shared memory"],
  ["gw-key-older", "", "stored before the last barrier"],
  ["gw-key-empty", "", "empty until stored"],
  ["gw-key-alert", "!", "a finding is about this cell"],
];

export function legend() {
  return h(
    "ul",
    { class: "gw-legend", "aria-label": "legend" },
    ...MARKS.map(([name, letter, text]) =>
      h("li", {}, h("span", { class: `gw-key ${name}`, "aria-hidden": "true" }, letter), text),
    ),
  );
}
