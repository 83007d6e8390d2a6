// What the current instruction asks of the machine: lanes and requests by warp, sectors, banks, who waits.

import { banksOf, requestsOf } from "./costs.js";
import { button, h, keepFocus, setAttribute, setClass, setText, svg } from "./dom.js";
import { BARRIER, END } from "./kinds.js";
import { place, several } from "./words.js";

const LANE = 13;
const WARPS = 4;
const WORDS = { active: "takes part", waits: "waits at the barrier", idle: "takes no part" };
const SIGNS = { active: "•", waits: "z", idle: "" };

export class Traffic {
  constructor(player) {
    this.player = player;
    this.lanes = h("div", { class: "gw-lanes" });
    this.detail = h("div", { class: "gw-detail" });
    this.node = h("section", { class: "gw-traffic", "aria-label": "requests of this step" }, this.lanes, this.detail);
    this.node.addEventListener("click", event => this.clicked(event));
    player.listen(what => this.update(what));
    this.update("scene");
  }

  get followedWarp() {
    return Math.floor(this.player.thread / this.player.scene.meta.warp);
  }

  update(what) {
    if (what === "playing") return;
    if (what === "scene" || what === "thread") {
      this.rows = this.warps().map(warp => new Warp(this.player, warp));
      this.lanes.replaceChildren(...this.rows.map(row => row.node));
    }
    const { scene, position } = this.player;
    const requests = requestsOf(scene, position);
    const waiting = scene.waiting(position);
    for (const row of this.rows)
      row.show(
        requests.find(r => r.warp === row.warp),
        waiting,
        this.found(),
        text => this.costOf(text),
      );
    keepFocus(this.detail, () => this.detail.replaceChildren(...this.details(requests), ...this.guessRow()));
  }

  // The threads of findings, from the first access that a finding is about to the last.
  found() {
    const { scene, position } = this.player;
    const now = scene.meta.spots.filter(({ steps }) => steps[0] <= position && position <= steps.at(-1));
    return new Set(now.flatMap(({ threads }) => threads));
  }

  // Banks or warps to click, for whoever predicts them.
  guessRow() {
    const { guesses, scene } = this.player;
    if (guesses?.what === "banks")
      return [h("p", {}, "Your banks:"), this.bankBoxes(new Array(scene.meta.banks).fill(0), guesses.banks)];
    if (guesses?.what !== "warps") return [];
    const warps = Array.from({ length: scene.warps }, (_, warp) => guessWarp(warp, guesses.warps));
    return [h("div", { class: "gw-fields" }, h("span", {}, "Your warps:"), ...warps)];
  }

  // The warps that are shown: the followed one among the first few.
  warps() {
    const { warps } = this.player.scene;
    const followed = this.followedWarp;
    const first = Math.max(0, Math.min(followed - 1, warps - WARPS));
    return Array.from({ length: Math.min(warps, WARPS) }, (_, n) => first + n);
  }

  costOf(request) {
    const { scene, position } = this.player;
    if (!request) return "";
    const { space } = scene.array(position);
    if (space === "global") return `1 request, ${several(request.sectors.size, "sector")}`;
    return space === "shared" ? `1 request of ${8 * scene.column.machine[position]} bits a lane` : "1 request";
  }

  details(requests) {
    const { scene, position } = this.player;
    const kind = scene.kind(position);
    if (kind === END) return [h("p", {}, scene.meta.completed ? "The block has finished." : "The run was stopped.")];
    if (kind === BARRIER) return [this.barrier()];
    if (scene.array(position)?.space === "shared" && !requests.length)
      return [h("p", {}, "No request of its own: in the machine code a wider access of another step serves this one.")];
    if (!requests.length)
      return [h("p", {}, `Arithmetic: no memory request. ${several(scene.warpsOf(position).length, "issue slot")}.`)];
    const request = requests.find(r => r.warp === this.followedWarp) || requests[0];
    return scene.array(position).space === "global"
      ? this.sectors(request)
      : scene.array(position).space === "shared"
        ? this.banks(request)
        : [];
  }

  barrier() {
    const { scene, position } = this.player;
    const waiting = scene.waiting(position).size;
    return h(
      "p",
      {},
      scene.column.opens[position]
        ? "The barrier opens: everybody goes on, and what was stored before is seen by all."
        : `${waiting} of ${scene.threads} threads wait (z).`,
    );
  }

  // The 128-byte lines that a request touches, in sectors of 32 bytes; how many of a sector's 8 words are wanted.
  sectors(request) {
    const { scene, position } = this.player;
    const per = scene.meta.lineBytes / scene.meta.sectorBytes;
    const lines = [...new Set([...request.sectors.keys()].map(sector => Math.floor(sector / per)))].sort(
      (a, b) => a - b,
    );
    const words = scene.meta.sectorBytes / 4;
    const array = scene.array(position);
    const shown = lines.slice(0, 7);
    const boxes = shown.map(line =>
      h(
        "span",
        { class: "gw-line" },
        ...Array.from({ length: per }, (_, n) => {
          const used = request.sectors.get(line * per + n)?.size || 0;
          const first = ((line * per + n) * scene.meta.sectorBytes) / array.item_bytes;
          const label = first < array.rows * array.columns ? place(scene, array.number, first) : "past the end";
          return h(
            "span",
            {
              class: used ? "gw-sector gw-sector-used" : "gw-sector",
              title: `sector from ${label}: ${used} of ${words} words wanted`,
            },
            used ? `${used}/${words}` : "",
          );
        }),
      ),
    );
    const moved = request.sectors.size * words;
    const wanted = request.words.size;
    return [
      h(
        "p",
        {},
        `Warp ${request.warp}: ${several(lines.length, "line")} of ${scene.meta.lineBytes} bytes, ` +
          `${several(request.sectors.size, "sector")}; ${wanted} of ${moved} words fetched are wanted.`,
      ),
      h(
        "div",
        { class: "gw-memory", "aria-hidden": "true" },
        ...boxes,
        lines.length > 7 ? ` and ${lines.length - 7} more` : "",
      ),
    ];
  }

  // For each bank how many different words a request wants.
  banks(request) {
    const { scene, position } = this.player;
    const { column } = scene;
    const words = request.words.size;
    const wavefronts = column.wavefronts[position];
    const count = column.requests[position];
    const conflicts = column.bank_conflicts[position];
    const cost = `The step takes ${several(wavefronts, "wavefront")} for ${several(count, "request")}`;
    const where =
      words === 1 ? "one word for all lanes, a broadcast" : `${words} words; boxes: how many from each bank`;
    const conflict = conflicts ? `${conflicts} of them because of bank conflicts` : "no bank conflict";
    return [
      h("p", {}, `Warp ${request.warp} wants ${where}. ${cost}, ${conflict}.`),
      this.bankBoxes(banksOf(scene, request), null, conflicts > 0),
    ];
  }

  // A box for each bank; to click, if `guessed` are those that the viewer has clicked.
  bankBoxes(wanted, guessed = null, conflict = false) {
    const look = count => (conflict && count > 1 ? "gw-bank-conflict" : count ? "gw-bank-used" : "");
    const box = (count, bank) =>
      h(
        "span",
        { class: `gw-bank ${look(count)}`, title: `bank ${bank}: ${several(count, "word")}` },
        count ? String(count) : "",
      );
    return h("div", { class: "gw-memory" }, ...wanted.map(guessed ? (_, bank) => guessBox(bank, guessed) : box));
  }

  clicked(event) {
    const { player } = this;
    const warp = event.target.closest("[data-warp]");
    const lane = event.target.closest("[data-thread]");
    const bank = event.target.closest("[data-bank]");
    if (player.guesses && bank) player.guess("banks", bank.dataset.bank);
    else if (player.guesses && warp) player.guess("warps", warp.dataset.warp);
    else if (lane) player.follow(Number(lane.dataset.thread));
  }
}

function guessBox(bank, guessed) {
  const on = guessed.has(String(bank));
  return button(on ? "?" : "", `bank ${bank}`, () => {}, {
    class: on ? "gw-bank gw-guessed" : "gw-bank",
    "data-bank": bank,
    "aria-pressed": String(on),
  });
}

function guessWarp(warp, guessed) {
  const on = guessed.has(String(warp));
  return button(`warp ${warp}${on ? " ?" : ""}`, `guess warp ${warp}`, () => {}, {
    class: on ? "gw-guessed" : null,
    "data-warp": warp,
    "aria-pressed": String(on),
  });
}

// The lanes of one warp in a row.
class Warp {
  constructor(player, warp) {
    this.player = player;
    this.warp = warp;
    const { scene, thread } = player;
    const size = scene.meta.warp;
    this.name = h("span", {}, `warp ${warp}`);
    this.cost = h("span", { class: "gw-cost" });
    this.lanes = Array.from({ length: size }, (_, lane) => {
      const t = warp * size + lane;
      const exists = t < scene.threads;
      const title = svg("title", {}, exists ? scene.name(t) : "no thread");
      const sign = svg("text", { x: LANE / 2 - 0.5, y: LANE - 4 });
      const node = svg(
        "g",
        { class: "gw-lane gw-lane-none", transform: `translate(${lane * LANE} 0)`, "data-thread": exists ? t : null },
        title,
        svg("rect", { width: LANE - 1, height: LANE - 1, rx: 2 }),
        sign,
      );
      return { t, node, title, sign, followed: t === thread, state: exists ? "" : "none" };
    });
    this.picture = svg(
      "svg",
      { width: size * LANE, height: LANE, role: "img" },
      this.lanes.map(lane => lane.node),
    );
    this.node = h("div", { class: "gw-warp", "data-warp": warp }, this.name, this.picture, this.cost);
  }

  show(request, waiting, found, costOf) {
    const { scene, position, guesses } = this.player;
    let active = 0;
    for (const lane of this.lanes) {
      if (lane.state === "none") continue;
      const state =
        scene.takesPart(position, lane.t) && !waiting.has(lane.t) ? "active" : waiting.has(lane.t) ? "waits" : "idle";
      const alert = found.has(lane.t);
      active += state === "active";
      if (state === lane.state && alert === lane.alert) continue;
      Object.assign(lane, { state, alert });
      const more = `${lane.followed ? "gw-lane-followed" : ""} ${alert ? "gw-lane-alert" : ""}`;
      lane.node.setAttribute("class", `gw-lane gw-lane-${state} ${more}`);
      setText(lane.title, `${scene.name(lane.t)}: ${WORDS[state]}${alert ? "; a finding is about it" : ""}`);
      setText(lane.sign, alert ? "!" : SIGNS[state]);
    }
    const guessed = guesses?.warps?.has(String(this.warp)) || false;
    setClass(this.name, "gw-guessed", guessed);
    setText(this.name, `warp ${this.warp}${guessed ? " ?" : ""}`);
    setText(this.cost, costOf(request));
    setAttribute(this.picture, "aria-label", `warp ${this.warp}: ${active} lanes take part`);
  }
}
