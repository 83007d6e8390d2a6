// What the steps of a scene cost. Nothing here touches the page.

import { FMA, GLOBAL_LOAD, SHARED_LOAD } from "./kinds.js";

// Totals of the block after each step: words read, FMAs, wavefronts, and issue slots of FMAs (one for each warp).
export function runningSums(scene) {
  const { column, steps } = scene;
  const running = { global: 0, shared: 0, fma: 0, wavefronts: 0, slots: 0 };
  const sums = Object.fromEntries(Object.keys(running).map(name => [name, new Float64Array(steps)]));
  for (let step = 0; step < steps; step++) {
    const kind = column.kind[step];
    if (kind === GLOBAL_LOAD) running.global += column.words[step];
    if (kind === SHARED_LOAD) running.shared += column.words[step];
    running.wavefronts += column.wavefronts[step];
    if (kind === FMA) {
      running.fma += scene.members(step).length;
      running.slots += scene.warpsOf(step).length;
    }
    for (const name in running) sums[name][step] = running[name];
  }
  return sums;
}

// The requests of a memory access, one for each warp: the sectors and the words that its lanes want. Of shared memory
// those of the machine code, whose accesses may be wider; none where another step's access has fetched the words.
export function requestsOf(scene, step) {
  const array = scene.array(step);
  const { warp: size, sectorBytes } = scene.meta;
  const bytes = scene.column.machine[step];
  const found = new Map();
  if (!array || !bytes) return [];
  for (const thread of scene.members(step)) {
    const warp = Math.floor(thread / size);
    const exact = array.at + array.item_bytes * scene.element(step, thread);
    const address = array.space === "shared" ? exact - (exact % bytes) : exact;
    if (!found.has(warp)) found.set(warp, { warp, sectors: new Map(), words: new Set() });
    const { sectors, words } = found.get(warp);
    for (let at = address; at < address + bytes; at += 4) {
      const sector = Math.floor(at / sectorBytes);
      sectors.set(sector, (sectors.get(sector) || new Set()).add(Math.floor(at / 4)));
      words.add(Math.floor(at / 4));
    }
  }
  return [...found.values()];
}

// For each bank, the different words that a request wants from it.
export function banksOf(scene, request) {
  const found = new Array(scene.meta.banks).fill(0);
  for (const word of request.words) found[word % scene.meta.banks]++;
  return found;
}
