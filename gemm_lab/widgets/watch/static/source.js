// The kernel's source with the executed line.

import { h, setClass, setText } from "./dom.js";

export class Source {
  constructor(player) {
    this.player = player;
    this.list = h("ol", { class: "gw-code", tabindex: "0", "aria-label": "source of the kernel" });
    this.node = h("section", { class: "gw-source", "aria-label": "source" }, this.list);
    player.listen(what => this.update(what));
    this.update("scene");
  }

  update(what) {
    const { scene, position } = this.player;
    if (what === "scene") {
      this.lines = scene.meta.source.map((text, n) => h("li", { "data-line": n + 1 }, ...colour(text)));
      for (const line of scene.meta.removed) this.lines[line - 1].classList.add("gw-removed");
      this.list.replaceChildren(...this.lines);
      this.current = null;
    }
    const line = this.lines[scene.column.line[position] - 1];
    if (line === this.current) return;
    if (this.current) {
      setClass(this.current, "gw-current", false);
      this.current.removeAttribute("aria-current");
    }
    this.current = line;
    if (!line) return;
    setClass(line, "gw-current", true);
    line.setAttribute("aria-current", "step");
    this.reveal(line);
  }

  // Scroll within the list only, never the page.
  reveal(line) {
    const top = line.offsetTop;
    const { scrollTop, clientHeight } = this.list;
    if (!clientHeight) return requestAnimationFrame(() => this.list.clientHeight && this.reveal(line));
    if (top < scrollTop + 20 || top + line.offsetHeight > scrollTop + clientHeight - 20)
      this.list.scrollTop = Math.max(0, top - clientHeight / 2);
  }
}

// Comments set back; nothing else is coloured, so that the executed line stands out.
function colour(text) {
  const at = text.indexOf("//");
  return at < 0 ? [text || " "] : [text.slice(0, at), h("span", { class: "gw-comment" }, text.slice(at))];
}

// The phase in words, and the line's number; also what a screen reader announces.
export class Phase {
  constructor(player) {
    this.player = player;
    this.name = h("strong", {});
    this.words = h("span", {});
    this.line = h("span", { class: "gw-quiet" });
    this.live = h("p", { class: "gw-hidden", role: "status", "aria-live": "polite" });
    this.node = h("div", { class: "gw-phase" }, h("div", {}, this.name, this.words, " ", this.line), this.live);
    player.listen(() => this.update());
    this.update();
  }

  update() {
    const { scene, position, playing } = this.player;
    const { column } = scene;
    const sentence = scene.sentence(position);
    const colon = sentence.indexOf(":") + 1;
    setText(this.name, sentence.slice(0, colon));
    setText(this.words, sentence.slice(colon));
    setText(this.line, column.line[position] ? `line ${column.line[position]}` : "");
    this.node.dataset.phase = scene.phase(position);
    const line = column.line[position] ? `line ${column.line[position]}, ` : "";
    const said = `Step ${position + 1} of ${scene.steps}, ${line}${sentence}.`;
    if (!playing || column.phase[position] !== this.said) setText(this.live, said);
    this.said = column.phase[position];
  }
}
