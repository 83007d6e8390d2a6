// Elements of the page, and changing them only where something changed.

const SVG = "http://www.w3.org/2000/svg";

function made(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter(child => child !== null && child !== undefined));
  return node;
}

export const h = (tag, attributes = {}, ...children) => made(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
  made(document.createElementNS(SVG, tag), attributes, children);

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

export function setClass(node, name, on) {
  if (node.classList.contains(name) !== on) node.classList.toggle(name, on);
}

// Change what is in a node; whatever had the focus there has it afterwards, as an element of the same name.
export function keepFocus(node, change) {
  const name = element => element.dataset.name || element.getAttribute("aria-label");
  const active = node.getRootNode().activeElement;
  const focused = active && node.contains(active) ? name(active) : null;
  change();
  if (focused === null || node.contains(node.getRootNode().activeElement)) return;
  [...node.querySelectorAll("button, input, select")].find(element => name(element) === focused)?.focus();
}

export function labelled(text, control) {
  control.dataset.name = text;
  return h("label", { class: "gw-field" }, h("span", {}, text), control);
}

export function button(text, label, action, attributes = {}) {
  return h("button", { type: "button", title: label, "aria-label": label, onclick: action, ...attributes }, text);
}
