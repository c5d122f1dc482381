"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const dialog = document.getElementById("trial");
const tip = document.getElementById("tip");
let clips = 0;
const PRINTED = 460; // pixels: half a page
const COLOURS = 8, SHADES = 5, DASHES = ["", "6 3", "2 3", "8 3 2 3"];

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

// --- charts: the same figures as the files beside this page, drawn for the width there is -----------------------------

// Round values from low to high, as [value, label]; all labels have the same number of decimals.
function ticks(low, high, count, least = 0) {
  const raw = Math.max(least, (high - low) / count || 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const decimals = Math.max(0, -Math.floor(Math.log10(step * 1.001)));
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-6; i += 1) found.push([i * step, (i * step).toFixed(decimals)]);
  return found;
}

const hue = (number) => `var(--c${number % COLOURS})`;

// A cell has one colour in all figures; what is no cell has a shade. Series of one colour differ by their dashes and marks.
function colouring(series) {
  const measured = series.filter((one) => !one.quoted_for);
  const numbers = measured.map((one, index) => one.colours?.[0] ?? index);
  return series.map((one) => {
    const index = measured.findIndex((other) => other.name === (one.quoted_for || one.name));
    const own = measured[index].colours ?? [];
    const round = Math.floor(numbers[index] / COLOURS) + numbers.slice(0, index).filter((number) => number === numbers[index]).length;
    const colour = own.length ? hue(own[0]) : `var(--s${index % SHADES})`;
    return { index, round, colour, of: (i) => (own.length > i ? hue(own[i]) : colour), dash: one.quoted_for ? "2 3" : DASHES[round % DASHES.length] };
  });
}

function draw(place, figure, wanted) {
  place.replaceChildren();
  const width = wanted || Math.max(240, place.clientWidth || 480);
  const styles = colouring(figure.series);
  const svg = shape(place, "svg", { role: "img", "aria-label": figure.title });
  const height = { bars: drawBars, lines: drawPlane, points: drawPlane, map: drawMap }[figure.kind](svg, figure, styles, width);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  if (figure.series.length > 1 || references(figure).length) place.append(legend(figure, styles, svg));
}

function legend(figure, styles, svg) {
  const box = element("div", { class: "legend" });
  figure.series.forEach((series, index) => {
    if (series.quoted_for || (figure.kind === "bars" && series.colours?.length)) return; // bars with their cells' colours are named beside
    const key = element("span", { tabindex: 0 });
    const mark = shape(key, "svg", { viewBox: "0 0 22 10" });
    if (figure.kind === "bars") shape(mark, "rect", { x: 4, y: 0, width: 14, height: 10, fill: styles[index].colour });
    else if (figure.kind === "lines") shape(mark, "line", { x1: 0, x2: 22, y1: 5, y2: 5, stroke: styles[index].colour, "stroke-width": 2, "stroke-dasharray": styles[index].dash });
    else if (figure.kind === "map") shape(mark, "circle", { cx: 11, cy: 5, r: 4.2, fill: hue(index) });
    else dot(mark, 11, 5, 4.2, styles[index]);
    key.append(series.name);
    const own = (one) => [one.quoted_for, one.name].includes(series.name);
    const fade = (on) => svg.querySelectorAll(".mark").forEach((one) => {
      one.classList.toggle("faded", on && !own(figure.series[one.dataset.series]));
      one.classList.toggle("lit", on && own(figure.series[one.dataset.series]));
    });
    for (const [kind, on] of [["mouseenter", true], ["mouseleave", false], ["focus", true], ["blur", false]]) key.addEventListener(kind, () => fade(on));
    box.append(key);
  });
  if (figure.series.some((series) => series.quoted_for)) {
    const key = element("span");
    const mark = shape(key, "svg", { viewBox: "0 0 22 10" });
    if (figure.kind === "lines") shape(mark, "line", { x1: 0, x2: 22, y1: 5, y2: 5, stroke: "var(--ink)", "stroke-width": 1.5, "stroke-dasharray": "2 3" });
    else diamond(mark, 11, 5, {});
    key.append("published");
    box.append(key);
  }
  for (const [label, value, dash] of references(figure)) {
    const key = element("span");
    shape(shape(key, "svg", { viewBox: "0 0 22 10" }), "line", { x1: 0, x2: 22, y1: 5, y2: 5, stroke: "var(--ink)", "stroke-dasharray": dash });
    key.append(`${label} (${number(value)})`);
    box.append(key);
  }
  return box;
}

// The lines drawn across: what each stands for, where it is, and its dashes.
const references = (figure) => Object.entries(figure.references || {}).map(([label, value], i) => [label, value, ["4 3", "1 3"][i % 2]]);

// When the colours come round again, dots become rings.
function dot(parent, x, y, radius, style, colour = style.colour) {
  return shape(parent, "circle", { cx: x, cy: y, r: radius, fill: style.round % 2 ? "var(--ground)" : colour, stroke: colour, "stroke-width": 2 });
}

function diamond(parent, x, y, attributes) {
  return shape(parent, "path", { d: `M${x - 4.5} ${y}l4.5-4.5 4.5 4.5-4.5 4.5z`, fill: "var(--ground)", stroke: "var(--ink)", "stroke-width": 1.3, ...attributes });
}

function describe(series, i) {
  const interval = series.low[i] == null ? "" : `\n95 % interval ${number(series.low[i])} to ${number(series.high[i])}`;
  const runs = (series.runs?.[i] ?? []).length ? `\nruns ${series.runs[i].map(number).join(" and ")}` : "";
  return `${series.name}\n${number(series.y[i])}${interval}${runs}${series.labels[i] ? `\n${series.labels[i]}` : ""}`;
}

function hover(mark, text) {
  mark.addEventListener("mousemove", (event) => showTip(text, event));
  mark.addEventListener("mouseleave", hideTip);
  mark.addEventListener("click", (event) => showTip(text, event));
}

function drawBars(svg, figure, styles, width) {
  const categories = [...new Set(figure.series.flatMap((series) => series.x))];
  const count = figure.series.filter((series) => !series.quoted_for).length;
  const left = Math.min(width * 0.42, 12 + 6.6 * Math.max(...categories.map((name) => name.length)));
  const row = count > 1 ? 14 * count + 8 : 24;
  const thick = (row - 8) / count;
  const [top, bottom, right] = [6, 40, 46];
  const height = top + row * categories.length + bottom;
  const low = Math.min(0, figure.span[0]);
  const high = Math.max(0, figure.span[1]) || (low < 0 ? 0 : 1);
  const x = (value) => left + ((value - low) / (high - low)) * (width - left - right);
  const middle = (category, index) => top + row * categories.indexOf(category) + 4 + thick * (index + 0.5);
  for (const [value, label] of ticks(low, high, Math.max(3, Math.floor((width - left) / 80)))) {
    shape(svg, "line", { class: "grid", x1: x(value), x2: x(value), y1: top, y2: height - bottom });
    shape(svg, "text", { x: x(value), y: height - bottom + 15, "text-anchor": "middle" }, label);
  }
  const fits = Math.floor((left - 8) / 6.3);
  categories.forEach((category, i) => shape(svg, "text", { x: left - 7, y: top + row * (i + 0.5) + 4, "text-anchor": "end" }, shortened(category, fits)));
  for (const [, value, dash] of references(figure)) shape(svg, "line", { x1: x(value), x2: x(value), y1: top, y2: height - bottom, stroke: "var(--ink)", "stroke-dasharray": dash });
  figure.series.forEach((series, index) => series.x.forEach((category, i) => {
    const group = shape(svg, "g", { class: "mark", "data-series": index });
    const y = middle(category, styles[index].index);
    if (series.quoted_for) diamond(group, x(series.y[i]), y, {});
    else bar(group, figure, series, i, x, y, thick, styles[index].of(i));
    hover(group, `${category}\n${describe(series, i)}`);
  }));
  shape(svg, "text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, figure.x_label);
  return height;
}

// What tells names apart often stands at their end.
function shortened(name, length) {
  return name.length > length ? `${name.slice(0, Math.floor(length / 2) - 1)}…${name.slice(-Math.ceil(length / 2))}` : name;
}

function quotedBeside(figure, name, category) {
  const quoted = figure.series.find((one) => one.quoted_for === name);
  return quoted && quoted.y[quoted.x.indexOf(category)];
}

function bar(group, figure, series, i, x, y, thick, colour) {
  const quoted = quotedBeside(figure, series.name, series.x[i]);
  const [from, to] = [x(0), x(series.y[i])].sort((a, b) => a - b);
  shape(group, "rect", { x: from, y: y - thick / 2 + 1, width: to - from, height: thick - 2, fill: colour, rx: 1.5 });
  let end = to;
  if (series.low[i] !== null) {
    const [low, high] = [x(series.low[i]), x(series.high[i])];
    shape(group, "path", { d: `M${low} ${y}H${high}M${low} ${y - 3}v6M${high} ${y - 3}v6`, stroke: "var(--ink)", fill: "none" });
    end = Math.max(end, high);
  }
  for (const run of series.runs[i]) {
    shape(group, "circle", { cx: x(run), cy: y, r: 2.4, fill: "var(--ground)", stroke: "var(--ink)" });
    end = Math.max(end, x(run) + 2);
  }
  if (quoted !== undefined) end = Math.max(end, x(quoted) + 5);
  shape(group, "text", { x: end + 5, y: y + 4 }, series.y[i].toFixed(Math.max(...figure.span.map(Math.abs)) >= 10 ? 1 : 2));
}

function drawPlane(svg, figure, styles, width) {
  const height = Math.round(Math.min(320, Math.max(170, width * 0.62)));
  const [left, right, top, bottom] = [figure.y_label ? 52 : 42, 14, 8, figure.x_label ? 40 : 24];
  const scale = figure.log ? Math.log2 : (value) => value;
  const xs = figure.series.flatMap((series) => series.x).map(scale);
  let [x0, x1, [y0, y1]] = [Math.min(...xs), Math.max(...xs), figure.span];
  if (figure.kind === "points") [x0, x1] = [0, x1 * 1.05];
  const margin = (y1 - y0) * 0.05 || Math.abs(y1) * 0.1 || 1;
  [y0, y1] = [y0 >= 0 ? Math.max(0, y0 - margin) : y0 - margin, y1 + margin];
  const x = (value) => left + ((scale(value) - x0) / (x1 - x0 || 1)) * (width - left - right);
  const y = (value) => height - bottom - ((value - y0) / (y1 - y0)) * (height - top - bottom);
  for (const [value, label] of ticks(y0, y1, 5)) {
    shape(svg, "line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) });
    shape(svg, "text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, label);
  }
  const marks = figure.log ? [...new Set(figure.series.flatMap((series) => series.x))].map((value) => [value, value]) : ticks(x0, x1, Math.max(2, Math.floor(width / 60)), xs.every(Number.isInteger) ? 1 : 0);
  for (const [value, label] of marks) shape(svg, "text", { x: x(value), y: height - bottom + 15, "text-anchor": "middle" }, label);
  shape(svg, "line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom });
  if (figure.x_label) shape(svg, "text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, figure.x_label);
  if (figure.y_label) shape(svg, "text", { transform: `translate(11 ${(top + height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, figure.y_label);
  const clip = `clip${(clips += 1)}`; // bands that only show when pointed at may be wider than the figure
  shape(shape(svg, "clipPath", { id: clip }), "rect", { x: left - 4, y: top - 4, width: width - left - right + 8, height: height - top - bottom + 8 });
  const inner = shape(svg, "g", { "clip-path": `url(#${clip})`, class: figure.tangle ? "tangle" : "" });
  for (const [, value, dash] of references(figure)) shape(svg, "line", { x1: left, x2: width - right, y1: y(value), y2: y(value), stroke: "var(--ink)", "stroke-dasharray": dash });
  figure.series.forEach((series, index) => (figure.kind === "lines" ? drawLine : drawDots)(inner, series, index, styles[index], x, y));
  nearest(svg, figure, x, y, width, height);
  return height;
}

function drawLine(parent, series, index, style, x, y) {
  const group = shape(parent, "g", { class: "mark", "data-series": index });
  const known = series.x.map((_, i) => i).filter((i) => series.low[i] != null);
  if (known.length > 1) {
    const upper = known.map((i) => `${x(series.x[i])} ${y(series.high[i])}`), lower = known.map((i) => `${x(series.x[i])} ${y(series.low[i])}`).reverse();
    shape(group, "path", { d: `M${upper.concat(lower).join("L")}Z`, fill: style.colour, class: "band" });
  }
  const points = series.x.map((value, i) => `${x(value)} ${y(series.y[i])}`);
  shape(group, "path", { d: `M${points.join("L")}`, fill: "none", stroke: style.colour, "stroke-width": 1.8, "stroke-dasharray": style.dash });
  if (series.x.length < 12) series.x.forEach((value, i) => shape(group, "circle", { cx: x(value), cy: y(series.y[i]), r: 2.6, fill: series.quoted_for ? "var(--ground)" : style.colour, stroke: style.colour }));
}

function drawDots(parent, series, index, style, x, y) {
  const group = shape(parent, "g", { class: "mark", "data-series": index });
  series.x.forEach((value, i) => {
    if (series.low[i] !== null) shape(group, "line", { x1: x(value), x2: x(value), y1: y(series.low[i]), y2: y(series.high[i]), stroke: style.of(i) });
    dot(group, x(value), y(series.y[i]), 4.5, style, style.of(i));
    if (series.sizes?.[i]) shape(group, "text", { x: x(value) + 7, y: y(series.y[i]) - 5 }, series.sizes[i]);
  });
}

function drawMap(svg, figure, styles, width) {
  const [xs, ys] = ["x", "y"].map((axis) => figure.series.flatMap((series) => series[axis]));
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = (width - 12) / (x1 - x0 || 1);
  const height = Math.min(width, Math.max(width * 0.5, (y1 - y0) * scale + 12));
  const unit = Math.min(scale, (height - 12) / (y1 - y0 || 1));
  figure.series.forEach((series, index) => {
    const group = shape(svg, "g", { class: "mark", "data-series": index, fill: hue(index) });
    series.x.forEach((value, i) => shape(group, "circle", { cx: width / 2 + (value - (x0 + x1) / 2) * unit, cy: height / 2 - (series.y[i] - (y0 + y1) / 2) * unit, r: 3.2, opacity: 0.8 }));
    hover(group, series.name);
  });
  return height;
}

function nearest(svg, figure, x, y, width, height) {
  const points = figure.series.flatMap((series) => series.x.map((value, i) => ({ px: x(value), py: y(series.y[i]), text: `${figure.kind === "lines" ? `${figure.x_label || "epoch"} ${number(value)}` : `${number(value)}${figure.x_label.startsWith("seconds") ? " s" : ""}`}: ${describe(series, i)}` })));
  const ring = shape(svg, "circle", { r: 5, fill: "none", stroke: "var(--ink)", "stroke-width": 1.5, visibility: "hidden" });
  const pad = shape(svg, "rect", { width, height, fill: "transparent" });
  const move = (event) => {
    const box = svg.getBoundingClientRect();
    const [mx, my] = [((event.clientX - box.left) * width) / box.width, ((event.clientY - box.top) * height) / box.height];
    const found = points.reduce((best, point) => (Math.hypot(point.px - mx, point.py - my) < Math.hypot(best.px - mx, best.py - my) ? point : best));
    ring.setAttribute("cx", found.px);
    ring.setAttribute("cy", found.py);
    ring.setAttribute("visibility", "visible");
    showTip(found.text, event);
  };
  pad.addEventListener("mousemove", move);
  pad.addEventListener("click", move);
  pad.addEventListener("mouseleave", () => { ring.setAttribute("visibility", "hidden"); hideTip(); });
}

function drawAll(width) {
  for (const place of document.querySelectorAll("[data-figure]")) draw(place, data.figures[place.dataset.figure], width);
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

function curvesOf(trial) {
  const grid = element("div", { class: "figures" });
  for (const [quantity, folds] of Object.entries(trial.curves)) {
    const place = element("div", { class: "chart" });
    const series = Object.entries(folds).map(([name, points]) => ({ name, x: points.map((p) => p[0]), y: points.map((p) => p[1]), low: [], high: [], labels: [] }));
    const values = series.flatMap((one) => one.y);
    place.figure = { title: quantity, kind: "lines", x_label: "", y_label: "", series, log: false, span: [Math.min(...values), Math.max(...values)] };
    grid.append(element("figure", {}, element("figcaption", {}, quantity.replaceAll("_", " ")), place));
  }
  return grid;
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
  if (trial.curves) parts.push(heading(`Curves and health, by epoch${data.step > 1 ? ` (one point in ${data.step}: there are too many for a page)` : ""}`), curvesOf(trial));
  parts.push(heading("Run it again"), element("pre", {}, `dmlplayground train ${data.store}/${trial.id}/trial.json --store ${data.store}`));
  const config = Object.entries({ ...cell.config, seed: trial.seed });
  const own = config.filter(([key]) => ["method.name", "seed", ...cell.factors].includes(key));
  parts.push(heading("Configuration"), pairsTable(own), element("details", {}, element("summary", {}, `all ${config.length} values`), pairsTable(config)));
  if (trial.versions) parts.push(element("details", {}, element("summary", {}, "Data, machine and versions"), pairsTable(Object.entries({ started: trial.started, ...trial.data, ...trial.machine, ...trial.versions }))));
  dialog.replaceChildren(...parts);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  for (const place of dialog.querySelectorAll(".chart")) draw(place, place.figure);
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
  const titled = event.target.closest("td[title]");
  if (titled) showTip(titled.title, event);
  else if (!event.target.closest(".chart")) hideTip();
});
document.querySelectorAll("details.pictures").forEach((one) => one.addEventListener("toggle", () => one.querySelectorAll("[data-figure]").forEach((place) => draw(place, data.figures[place.dataset.figure]))));
let pending;
addEventListener("resize", () => { clearTimeout(pending); pending = setTimeout(() => drawAll(), 120); });
addEventListener("beforeprint", () => drawAll(PRINTED));
addEventListener("afterprint", () => drawAll());

listTrials();
document.querySelectorAll("table.sortable").forEach(sortable);
drawAll();
openFromAddress();
