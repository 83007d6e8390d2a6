// A scene as the emulator recorded it, and questions about it. Nothing here touches the page.
// The format is documented in gemm_lab/emulator/tracing/trace.py; a position is the number of the step now executed.

import { runningSums } from "./costs.js";
import { ATOMIC, BARRIER, GLOBAL_STORE, LOCAL_LOAD, LOCAL_STORE, isCompute, isLoad, isStore } from "./kinds.js";

const TYPES = { int32: Int32Array, uint32: Uint32Array, uint16: Uint16Array, uint8: Uint8Array, float32: Float32Array };

export class Scene {
  constructor(meta, data) {
    this.meta = meta;
    this.bytes = data.byteLength;
    const bytes = new Uint8Array(data.buffer || data, data.byteOffset || 0, data.byteLength).slice();
    this.column = {};
    for (const [name, [type, at, size]] of Object.entries(meta.columns))
      this.column[name] = new TYPES[type](bytes.buffer, at, size);
    this.steps = meta.steps;
    this.threads = meta.threads;
    this.warps = Math.ceil(meta.threads / meta.warp);
    this.arrays = meta.arrays.map((array, number) => ({ ...array, number }));
    this.maskRows = new Map();
    this.usage = new Map();
    this.history = new Map();
    this.sums = runningSums(this);
    this.users = this.findUsers();
    this.findAccumulators();
  }

  // ---- one step

  mask(step) {
    const row = this.column.mask[step];
    if (!this.maskRows.has(row)) {
      const rank = new Int32Array(this.threads).fill(-1);
      const members = [];
      for (let t = 0; t < this.threads; t++)
        if (this.column.masks[row * this.threads + t]) rank[t] = members.push(t) - 1;
      this.maskRows.set(row, { members, rank });
    }
    return this.maskRows.get(row);
  }

  members(step) {
    return this.mask(step).members;
  }
  takesPart(step, thread) {
    return this.mask(step).rank[thread] >= 0;
  }
  kind(step) {
    return this.column.kind[step];
  }
  phase(step) {
    return this.meta.phaseKeys[this.column.phase[step]];
  }
  array(step) {
    const n = this.column.array[step];
    return n < 0 ? null : this.arrays[n];
  }
  sentence(step) {
    return this.meta.sentences[this.column.sentence[step]];
  }
  width(step) {
    return this.column.width[step];
  }

  element(step, thread) {
    const rank = this.mask(step).rank[thread];
    return rank < 0 || this.column.array[step] < 0 ? -1 : this.column.index[this.column.at_index[step] + rank];
  }

  value(step, thread, k = 0) {
    const rank = this.mask(step).rank[thread];
    return rank < 0 ? NaN : this.column.value[this.column.at_value[step] + rank * this.column.width[step] + k];
  }

  // Where an operand of a thread comes from: {step, element of its vector}, or null.
  origin(step, operand, thread) {
    const source = this.column.sources[4 * step + operand];
    const tag = source >= -1 ? source : this.column.mixed[-2 - source + this.mask(step).rank[thread]];
    return tag < 0 || !this.takesPart(tag >> 2, thread) ? null : { step: tag >> 2, element: tag & 3 };
  }

  operand(step, operand, thread) {
    const from = this.origin(step, operand, thread);
    return from ? this.value(from.step, thread, from.element) : this.column.constants[4 * step + operand];
  }

  // The cell whose value an operand is, and the cell of global memory that it was copied from (if it was).
  path(step, operand, thread) {
    const from = this.origin(step, operand, thread);
    return from && isLoad(this.kind(from.step)) ? this.cellsBehind(from.step, thread, from.element) : [];
  }

  cellsBehind(load, thread, k) {
    const array = this.array(load);
    const element = this.element(load, thread) + k;
    const cells = [{ array: array.number, element, load }];
    const written = array.space === "shared" ? this.lastWrite(array.number, element, load) : null;
    if (written) {
      const from = this.origin(written.step, written.k, written.thread);
      if (from && isLoad(this.kind(from.step)))
        cells.push(...this.cellsBehind(from.step, written.thread, from.element));
    }
    return cells;
  }

  // Every cell that the block touches in a step: Map of array -> Set of elements. A multiplication touches its factors.
  touched(step, only = null) {
    const found = new Map();
    const add = (array, element) => found.set(array, (found.get(array) || new Set()).add(element));
    const threads = only === null ? this.members(step) : this.takesPart(step, only) ? [only] : [];
    for (const thread of threads) {
      if (this.column.array[step] >= 0)
        for (let k = 0; k < Math.max(this.width(step), 1); k++)
          add(this.column.array[step], this.element(step, thread) + k);
      else if (this.column.chain[step] >= 0 || this.phase(step) === "multiply")
        for (let operand = 0; operand < 3; operand++)
          for (const cell of this.path(step, operand, thread).slice(0, 1)) add(cell.array, cell.element);
    }
    return found;
  }

  // ---- memory

  // For every element of an array the writes to it, in order.
  writes(array) {
    if (!this.history.has(array)) {
      const found = [];
      for (let step = 0; step < this.steps; step++)
        if (this.column.array[step] === array && (isStore(this.kind(step)) || this.kind(step) === ATOMIC))
          for (const thread of this.members(step))
            for (let k = 0; k < this.width(step); k++) {
              const element = this.element(step, thread) + k;
              (found[element] ||= []).push({ step, thread, k, value: this.value(step, thread, k) });
            }
      this.history.set(array, found);
    }
    return this.history.get(array);
  }

  lastWrite(array, element, before) {
    const writes = this.writes(array)[element] || [];
    let low = 0;
    let high = writes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (writes[middle].step < before) low = middle + 1;
      else high = middle;
    }
    return low ? writes[low - 1] : null;
  }

  // What an element holds once the step at `position` is done: undefined if nobody has written it.
  content(array, element, position) {
    const written = this.lastWrite(array, element, position + 1);
    if (written) return written.value;
    const role = this.arrays[array]?.role; // none of an array that the block never reached
    return role === "A" || role === "B" ? this.column[role][element] : undefined;
  }

  // The element was stored before a barrier that came before the newest store to the array.
  isOlder(array, element, position) {
    const written = this.lastWrite(array, element, position + 1);
    return written !== null && this.column.epoch[written.step] < this.newestStore(array, position);
  }

  newestStore(array, position) {
    const key = `newest ${array}`;
    if (!this.history.has(key)) {
      const newest = new Int32Array(this.steps);
      for (let step = 0, epoch = -1; step < this.steps; step++) {
        if (this.column.array[step] === array && isStore(this.kind(step))) epoch = this.column.epoch[step];
        newest[step] = epoch;
      }
      this.history.set(key, newest);
    }
    return this.history.get(key)[position];
  }

  // ---- threads

  coordinates(thread) {
    const [x, y] = this.meta.shape;
    return [thread % x, Math.floor(thread / x) % y, Math.floor(thread / (x * y))];
  }

  name(thread) {
    const [x, y, z] = this.coordinates(thread);
    return this.meta.shape[2] > 1 ? `T(${x},${y},${z})` : `T(${x},${y})`;
  }

  // All cells whose values a thread multiplies: Map of array -> Set of elements.
  usedBy(thread) {
    if (!this.usage.has(thread)) {
      const found = new Map();
      for (let step = 0; step < this.steps; step++)
        if (isCompute(this.kind(step)) && this.phase(step) === "multiply" && this.takesPart(step, thread))
          for (let operand = 0; operand < 3; operand++)
            for (const cell of this.path(step, operand, thread))
              found.set(cell.array, (found.get(cell.array) || new Set()).add(cell.element));
      this.usage.set(thread, found);
    }
    return this.usage.get(thread);
  }

  findAccumulators() {
    this.chainSteps = [];
    for (let step = 0; step < this.steps; step++) {
      const chain = this.column.chain[step];
      if (chain >= 0) (this.chainSteps[chain] ||= []).push(step);
    }
    this.chainStores = this.chainSteps.map(() => []);
    for (let step = 0; step < this.steps; step++)
      if (this.kind(step) === GLOBAL_STORE)
        for (let k = 0; k < this.width(step); k++) {
          const chain = this.chainBehind(step, k, 4);
          if (chain >= 0) this.chainStores[chain].push({ step, k });
        }
  }

  // The accumulator whose result an operand carries, through at most `depth` operations of the write-back.
  chainBehind(step, operand, depth) {
    const thread = this.members(step)[0];
    const from = this.origin(step, operand, thread);
    if (!from || !depth) return -1;
    if (this.column.chain[from.step] >= 0) return this.column.chain[from.step];
    if (this.kind(from.step) === LOCAL_LOAD) {
      const stored = this.localStore(from.step, thread);
      return stored < 0 ? -1 : this.chainBehind(stored, 0, depth - 1);
    }
    for (let next = 0; isCompute(this.kind(from.step)) && next < 3; next++) {
      const chain = this.chainBehind(from.step, next, depth - 1);
      if (chain >= 0) return chain;
    }
    return -1;
  }

  // The step in which a thread stored what it now loads from its local memory, or -1.
  localStore(load, thread) {
    const array = this.column.array[load];
    const element = this.element(load, thread);
    for (let step = load - 1; step >= 0; step--)
      if (
        this.kind(step) === LOCAL_STORE &&
        this.column.array[step] === array &&
        this.element(step, thread) === element
      )
        return step;
    return -1;
  }

  // The running sum of a thread: {value, step of its latest change}, or null before the first.
  accumulator(chain, thread, position) {
    const steps = this.chainSteps[chain];
    for (let n = upTo(steps, position) - 1; n >= 0; n--)
      if (this.takesPart(steps[n], thread)) return { value: this.value(steps[n], thread), step: steps[n] };
    return null;
  }

  // The element that a thread's sum ends in, one of C if there is: {array, element}, or null if it is never stored.
  target(chain, thread) {
    for (const { step, k } of this.chainStores[chain])
      if (this.takesPart(step, thread))
        return { array: this.column.array[step], element: this.element(step, thread) + k };
    return null;
  }

  // All elements of C that a thread stores.
  targets(thread) {
    const found = [];
    for (let step = 0; step < this.steps; step++)
      if (this.kind(step) === GLOBAL_STORE && this.array(step).role === "C" && this.takesPart(step, thread))
        for (let k = 0; k < this.width(step); k++)
          found.push({ array: this.column.array[step], element: this.element(step, thread) + k });
    return found;
  }

  // For every loaded word (4 * step + element) the multiplications that use it, in order.
  findUsers() {
    const users = new Map();
    for (let step = 0; step < this.steps; step++) {
      if (!isCompute(this.kind(step)) || this.phase(step) !== "multiply") continue;
      for (const tag of new Set([0, 1, 2].flatMap(operand => this.tags(step, operand))))
        if (tag >= 0 && isLoad(this.kind(tag >> 2))) {
          if (!users.has(tag)) users.set(tag, []);
          users.get(tag).push(step);
        }
    }
    return users;
  }

  tags(step, operand) {
    const source = this.column.sources[4 * step + operand];
    const { length } = this.members(step);
    return source >= -1 ? [source] : [...this.column.mixed.subarray(-2 - source, -2 - source + length)];
  }

  // Loaded values that a thread still needs for a multiplication, the most used first.
  held(thread, position) {
    const found = [];
    for (let step = position; step >= 0 && found.length < 64; step--)
      if (isLoad(this.kind(step)) && this.column.last[step] >= position && this.takesPart(step, thread))
        for (let k = 0; k < this.width(step); k++) {
          const users = this.users.get(4 * step + k);
          if (!users || users.at(-1) < position) continue;
          found.push({
            step,
            k,
            array: this.column.array[step],
            element: this.element(step, thread) + k,
            value: this.value(step, thread, k),
            uses: users.length,
            used: upTo(users, position),
          });
        }
    return found.sort((a, b) => b.uses - a.uses || a.step - b.step);
  }

  // ---- barriers and phases

  // Threads that wait at a barrier once the step at `position` is done.
  waiting(position) {
    const found = new Set();
    for (let step = position; step >= 0; step--) {
      if (this.kind(step) !== BARRIER) continue;
      if (this.column.opens[step]) break;
      for (const thread of this.members(step)) found.add(thread);
    }
    return found;
  }

  nextPhase(position) {
    let step = position;
    while (step < this.steps - 1 && this.column.phase[step] === this.column.phase[position]) step++;
    return step;
  }

  previousPhase(position) {
    let step = Math.max(position - 1, 0);
    while (step > 0 && this.column.phase[step - 1] === this.column.phase[step]) step--;
    return step;
  }

  // The turns of the warps: [{warp, step}], a new one wherever another warp acts.
  turns() {
    const found = [];
    for (let step = 0; step < this.steps; step++) {
      const warps = this.warpsOf(step);
      if (warps.length === 1 && (!found.length || found.at(-1).warp !== warps[0])) found.push({ warp: warps[0], step });
    }
    return found;
  }

  warpsOf(step) {
    return [...new Set(this.members(step).map(thread => Math.floor(thread / this.meta.warp)))];
  }
}

// How many of these ascending numbers are at most `limit`.
export function upTo(numbers, limit) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
