// The entry: anywidget calls `render`, a saved page calls `show`.

import { App } from "./app.js";
import { Comparison } from "./compare.js";
import { Scene } from "./trace.js";

const decode = ({ meta, data }) => new Scene(JSON.parse(meta), data);

export function show(element, scenes, ask) {
  const decoded = scenes.map(decode);
  const view = decoded.length > 1 ? new Comparison(decoded) : new App(decoded[0], ask);
  element.replaceChildren(view.node);
  return view;
}

function render({ model, el }) {
  el.classList.add("gw-host");
  let asked = 0;
  const ask = request => model.send({ ...request, number: ++asked });
  const view = show(el, model.get("scenes"), model.get("live") ? ask : null);
  const changed = () => view.load(...model.get("scenes").map(decode));
  const answered = message => message.problem !== undefined && view.problem?.explain(message.problem);
  model.on("change:scenes", changed);
  model.on("msg:custom", answered);
  return () => {
    view.remove();
    model.off("change:scenes", changed);
    model.off("msg:custom", answered);
  };
}

export default { render };
