"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const dialog = document.getElementById("trial");
const tip = document.getElementById("tip");

// --- elements -------------------------------------------------------------------------------------------------------

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function shape(parent, name, attributes, content) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (content !== undefined) made.textContent = content;
  parent.append(made);
  return made;
}

function number(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return String(value);
  return Math.abs(value) >= 1000 ? value.toFixed(0) : Math.abs(value) >= 1 ? value.toFixed(2) : String(Number(value.toPrecision(3)));
}

function duration(seconds) {
  if (seconds < 120) return `${seconds.toFixed(seconds < 60 ? 1 : 0)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function showTip(text, event) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - box.width - 4))}px`;
  tip.style.top = `${event.clientY + box.height + 18 > innerHeight ? event.clientY - box.height - 10 : event.clientY + 14}px`;
  (dialog.open ? dialog : document.body).append(tip);
}

function hideTip() { tip.hidden = true; }

// --- figures: what a point is, is said when it is pointed at ---------------------------------------------------------

for (const title of document.querySelectorAll(".chart title")) { // not to be shown by the browser as well
  title.parentElement.dataset.tip = title.textContent;
  title.remove();
}

// The mark below the pointer; in a drawing whose marks have places, the nearest one.
function pointed(svg, event) {
  const below = event.target.closest("[data-tip]");
  if (below) return below;
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const across = svg.closest(".bars") ? 0.05 : 1; // of bars, the row counts
  const far = (mark) => Math.hypot((mark.getAttribute("x") - at.x) * across, mark.getAttribute("y") - at.y);
  const marks = [...svg.querySelectorAll("use[data-tip]")];
  return marks.length ? marks.reduce((best, mark) => (far(mark) < far(best) ? mark : best)) : null;
}

function point(event) {
  const svg = event.target.closest?.(".chart svg"), mark = svg && pointed(svg, event);
  document.querySelectorAll(".chart .faded, .chart .ring").forEach((one) => (one.matches(".ring") ? one.remove() : one.classList.remove("faded")));
  if (!mark) return event.target.closest?.("[title]") || hideTip();
  const of = mark.closest("[class^=points-]")?.getAttribute("class").replace("points", "series");
  if (mark.matches("use")) shape(svg, "circle", { class: "ring", cx: mark.getAttribute("x"), cy: mark.getAttribute("y"), r: 4.5 });
  if (of) svg.querySelectorAll("[class^=series-]").forEach((one) => one.classList.toggle("faded", !one.classList.contains(of)));
  return showTip(mark.dataset.tip, event);
}
document.addEventListener("mousemove", point);

// The curves of one trial: a small drawing, as a page has no room for all of them.
function curve(name, folds) {
  const [width, height, left, bottom] = [300, 150, 44, 18];
  const all = Object.values(folds).flat(), [xs, ys] = [0, 1].map((axis) => all.map((one) => one[axis]));
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const x = (value) => left + ((value - x0) / (x1 - x0 || 1)) * (width - left - 8);
  const y = (value) => height - bottom - 6 - ((value - y0) / (y1 - y0 || 1)) * (height - bottom - 14);
  const chart = element("div", { class: "chart" });
  const svg = shape(chart, "svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name });
  shape(svg, "path", { d: `M${left} 4V${height - bottom}H${width - 4}`, class: "axis" });
  for (const value of new Set([y0, y1])) shape(svg, "text", { x: left - 5, y: y(value) + 4, "text-anchor": "end" }, number(value));
  for (const value of new Set([x0, x1])) shape(svg, "text", { x: x(value), y: height - 3, "text-anchor": "middle" }, value);
  Object.entries(folds).forEach(([fold, points], index) => {
    const colour = `var(--c${index % 8})`;
    shape(svg, "path", { d: `M${points.map((one) => `${x(one[0])} ${y(one[1])}`).join("L")}`, style: `stroke: ${colour}`, class: "line" });
    for (const [epoch, value] of points) shape(svg, "use", { x: x(epoch), y: y(value), "data-tip": `${fold}, epoch ${epoch}: ${number(value)}` });
  });
  return element("figure", {}, element("figcaption", {}, name.replaceAll("_", " ")), chart);
}

// --- sorting ----------------------------------------------------------------------------------------------------------

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const order = head.classList.contains("num") ? ["descending", "ascending"] : ["ascending", "descending"];
    const next = head.getAttribute("aria-sort") === order[0] ? order[1] : order[0];
    const down = next === "descending";
    heads.forEach((one) => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", next);
    const rows = [...table.tBodies[0].rows];
    const key = (row) => row.cells[column].dataset.key;
    const compare = (a, b) => {
      if ((key(a) === "") !== (key(b) === "")) return key(a) === "" ? 1 : -1; // nothing to compare: at the end either way
      const both = [Number(key(a)), Number(key(b))];
      return (both.some(Number.isNaN) ? key(a).localeCompare(key(b)) : both[0] - both[1]) * (down ? -1 : 1);
    };
    const fixed = rows.filter((row) => row.classList.contains("baseline"));
    table.tBodies[0].append(...fixed, ...rows.filter((row) => !fixed.includes(row)).sort(compare));
  }));
}

// --- trials -----------------------------------------------------------------------------------------------------------

function listTrials() {
  const table = document.getElementById("trials");
  const any = (name) => [...new Set(data.cells.map(name))].join(" or ");
  const columns = [["trial", ""], ["data and protocol", "wide"], ["seed", "num"], ["status", ""], [any((cell) => `${cell.headline} ${cell.shown[0]}`), "num"], [any((cell) => cell.shown[1]), "num wide"], ["time", "num wide"]];
  const head = table.createTHead().insertRow();
  for (const [name, kind] of columns) head.append(element("th", { scope: "col", class: kind }, element("button", { type: "button" }, name)));
  const body = table.createTBody();
  for (const cell of data.cells) for (const trial of cell.trials) {
    const row = body.insertRow();
    const [first, second] = trial.shown ?? [];
    const add = (content, key, kind = "") => row.append(element("td", { class: kind, "data-key": key ?? "" }, content));
    add(element("a", { href: `#${encodeURIComponent(trial.id)}` }, cell.label), cell.label);
    add(cell.arena, cell.arena, "wide");
    add(String(trial.seed), trial.seed, "num");
    add(trial.status, trial.status, trial.status);
    add(number(first), first, "num");
    add(number(second), second, "num wide");
    add(trial.seconds === undefined ? "–" : duration(trial.seconds), trial.seconds, "num wide");
    row.dataset.words = `${cell.label} ${cell.arena} ${trial.id} ${trial.status} seed ${trial.seed}`.toLowerCase();
  }
  const filter = document.getElementById("filter");
  const narrow = () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    for (const row of body.rows) row.hidden = !words.every((word) => row.dataset.words.includes(word));
  };
  filter.value = new URLSearchParams(location.search).get("filter") ?? "";
  filter.addEventListener("input", () => { // the address has it, to be shared and kept when the page is loaded again
    narrow();
    history.replaceState(null, "", (filter.value ? `?filter=${encodeURIComponent(filter.value)}` : location.pathname) + location.hash);
  });
  narrow();
}

function pairsTable(pairs) {
  const table = element("table"), body = table.createTBody();
  for (const [key, value] of pairs) body.insertRow().append(element("th", { scope: "row" }, key), element("td", {}, typeof value === "string" ? value : JSON.stringify(value)));
  return table;
}

function scoresTable(scores) {
  const table = element("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  const metrics = Object.keys(Object.values(scores)[0]);
  head.append(element("th"), ...metrics.map((metric) => element("th", { class: "num" }, data.percent.includes(metric) ? `${metric}, %` : metric)));
  for (const [name, values] of Object.entries(scores)) body.insertRow().append(element("th", { scope: "row" }, name), ...metrics.map((metric) => element("td", { class: "num" }, values[metric] === null || values[metric] === undefined ? "–" : data.percent.includes(metric) ? values[metric].toFixed(2) : number(values[metric]))));
  return element("div", { class: "scroll" }, table);
}

function heading(text) { return element("h3", {}, text); }

function showTrial(cell, trial) {
  const close = element("button", { class: "close", type: "button" }, "Close");
  close.addEventListener("click", () => dialog.close());
  const seeds = element("p", { class: "seeds" }, ...cell.trials.map((one) => element("a", { href: `#${encodeURIComponent(one.id)}`, ...(one === trial ? { "aria-current": "true" } : {}) }, `seed ${one.seed}`)));
  const parts = [close, element("h2", {}, cell.label), element("p", { class: "note" }, `${cell.arena} · ${trial.id} · `, element("span", { class: trial.status }, trial.status)), seeds];
  if (trial.reason) parts.push(element("pre", {}, trial.reason));
  if (trial.traceback) parts.push(element("details", {}, element("summary", {}, "Traceback"), element("pre", {}, trial.traceback)));
  if (trial.scores) parts.push(heading("Scores"), scoresTable(trial.scores));
  if (trial.curves) parts.push(heading(`Curves and health, by epoch${data.step > 1 ? ` (one point in ${data.step}: there are too many for a page)` : ""}`), element("div", { class: "figures" }, ...Object.entries(trial.curves).map((one) => curve(...one))));
  parts.push(heading("Run it again"), element("pre", {}, `dmlplayground train ${data.store}/${trial.id}/trial.json --store ${data.store}`));
  const config = Object.entries({ ...cell.config, seed: trial.seed });
  const own = config.filter(([key]) => ["method.name", "seed", ...cell.factors].includes(key));
  parts.push(heading("Configuration"), pairsTable(own), element("details", {}, element("summary", {}, `all ${config.length} values`), pairsTable(config)));
  if (trial.made !== undefined) parts.push(element("details", {}, element("summary", {}, "Data, machine and versions"), pairsTable(Object.entries({ started: trial.started, ...data.made[trial.made] }))));
  dialog.replaceChildren(...parts);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

function openFromAddress() {
  const id = decodeURIComponent(location.hash.slice(1));
  for (const cell of data.cells) for (const trial of cell.trials) if (trial.id === id) return showTrial(cell, trial);
  if (dialog.open) dialog.close();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-cell]");
  if (!link) return;
  event.preventDefault();
  const cell = data.cells.find((one) => one.key === link.dataset.cell);
  location.hash = encodeURIComponent(cell.trials[0].id);
});
dialog.addEventListener("close", () => { hideTip(); if (location.hash) history.replaceState(null, "", location.pathname + location.search); });
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
addEventListener("hashchange", openFromAddress);
document.addEventListener("click", (event) => { // a finger cannot hover
  point(event);
  const titled = event.target.closest("td[title]");
  if (titled) showTip(titled.title, event);
});
listTrials();
document.querySelectorAll("table.sortable").forEach(sortable);
openFromAddress();
