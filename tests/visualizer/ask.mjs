// Questions about a scene, answered by the browser's own code: node ask.mjs STATIC SCENE prints them as JSON.

import { readFileSync } from "node:fs";

const [, , folder, path] = process.argv;
const { Scene, upTo } = await import(`${folder}/trace.js`);
const { isLoad } = await import(`${folder}/kinds.js`);
const { banksOf, requestsOf } = await import(`${folder}/costs.js`);
const { ranges } = await import(`${folder}/words.js`);
const { products, storyOfInput, storyOfResult } = await import(`${folder}/provenance.js`);
const { aligned } = await import(`${folder}/compare.js`);

const scene = new Scene(JSON.parse(readFileSync(`${path}.json`, "utf8")), readFileSync(`${path}.bin`));
const steps = [...Array(scene.steps).keys()],
  threads = [...Array(scene.threads).keys()];
const thread = scene.meta.thread;
const cells = number => [...Array(scene.arrays[number].rows * scene.arrays[number].columns).keys()];
const plain = map => Object.fromEntries([...map].map(([key, set]) => [key, [...set].sort((a, b) => a - b)]));
const none = value => (value === undefined ? null : value);

console.log(
  JSON.stringify({
    members: steps.map(step => scene.members(step)),
    reached: steps.map(step => (scene.array(step) ? scene.members(step).map(t => scene.element(step, t)) : [])),
    values: steps.map(step => scene.members(step).map(t => (scene.width(step) ? none(scene.value(step, t)) : null))),
    contents: Object.fromEntries(
      scene.arrays
        .filter(a => a.space !== "local")
        .map(({ name, number }) => [
          name,
          steps.map(step => cells(number).map(e => none(scene.content(number, e, step)))),
        ]),
    ),
    touched: steps.map(step => plain(scene.touched(step))),
    mine: steps.map(step => plain(scene.touched(step, thread))),
    operands: steps.map(step =>
      threads.map(t =>
        scene.takesPart(step, t) && scene.column.chain[step] >= 0
          ? [0, 1, 2].map(operand => scene.operand(step, operand, t))
          : null,
      ),
    ),
    sums: Object.fromEntries(Object.entries(scene.sums).map(([name, sums]) => [name, [...sums]])),
    accumulators: threads.map(t =>
      scene.chainSteps.map((_, chain) => scene.accumulator(chain, t, scene.steps - 1)?.value ?? null),
    ),
    targets: threads.map(t => scene.chainSteps.map((_, chain) => scene.target(chain, t)?.element ?? null)),
    used: plain(scene.usedBy(thread)),
    held: steps.map(step => scene.held(thread, step).map(h => [h.step, h.uses])),
    waiting: steps.map(step => [...scene.waiting(step)].sort((a, b) => a - b)),
    older: steps.map(step =>
      scene.arrays
        .filter(a => a.space === "shared")
        .map(a => cells(a.number).filter(e => scene.isOlder(a.number, e, step))),
    ),
    turns: scene.turns(),
    requests: steps.map(step =>
      requestsOf(scene, step).map(r => [r.warp, r.sectors.size, Math.max(0, ...banksOf(scene, r))]),
    ),
    nextPhase: steps.map(step => scene.nextPhase(step)),
    previousPhase: steps.map(step => scene.previousPhase(step)),
    products: products(scene).length,
    stories: Object.fromEntries(
      ["A", "B", "C"].map(role => {
        const array = scene.arrays.find(a => a.role === role);
        return [
          role,
          cells(array.number).map(
            element => (role === "C" ? storyOfResult : storyOfInput)(scene, { array: array.number, element }).lines,
          ),
        ];
      }),
    ),
    aligned: aligned([scene, scene]),
    small: [upTo([1, 3, 3, 7], 3), upTo([], 0), ranges([3, 1, 2, 7, 9, 10]), isLoad(4)],
  }),
);
