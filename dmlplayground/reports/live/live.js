"use strict";
// Asks every few seconds what runs, shows it, and fetches the report anew when a record has changed.
(() => {
  const PERIOD = 2000; // milliseconds
  const place = document.getElementById("now");
  let version = null;
  let opened = new Set();

  function make(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function duration(seconds) {
    if (seconds === null) return "–";
    if (seconds < 90) return `${Math.round(seconds)} s`;
    return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
  }

  function curve(points) {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("width", "120");
    svg.setAttribute("height", "28");
    if (points.length > 1) {
      const xs = points.map((point) => point[0]), ys = points.map((point) => point[1]);
      const low = Math.min(...ys), high = Math.max(...ys), last = Math.max(...xs);
      const line = document.createElementNS(space, "polyline");
      const at = points.map(([x, y]) => `${2 + (116 * x) / (last || 1)},${25 - (22 * (y - low)) / (high - low || 1)}`);
      line.setAttribute("points", at.join(" "));
      line.setAttribute("fill", "none");
      line.setAttribute("stroke", "var(--accent)");
      line.setAttribute("stroke-width", "1.5");
      svg.append(line);
    }
    return svg;
  }

  function running(trial) {
    const share = trial.total ? Math.min(100, (100 * trial.epochs) / trial.total) : 0;
    const bar = make("span", { class: "bar" }, make("i", { style: `width:${share}%` }));
    const since = new Date(trial.since);
    return make("tr", {},
      make("th", { scope: "row" }, trial.id),
      make("td", {}, bar, ` ${trial.epochs}/${trial.total}`),
      make("td", { class: "num" }, duration(trial.seconds_left)),
      make("td", {}, trial.score), make("td", {}, curve(trial.curve)),
      make("td", {}, trial.where), make("td", {}, isNaN(since) ? "" : since.toLocaleTimeString()));
  }

  function table(trials) {
    const heads = ["running", "epochs", "left", "score", "curve", "where", "since"];
    return make("div", { class: "scroll" }, make("table", {},
      make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", {}, head)))),
      make("tbody", {}, ...trials.map(running))));
  }

  function stopped(trial) {
    const box = make("details", {}, make("summary", {}, make("span", { class: "bad" }, trial.status), ` ${trial.id}: ${trial.reason}`));
    if (trial.traceback) box.append(make("pre", {}, trial.traceback));
    box.open = opened.has(trial.id);
    box.addEventListener("toggle", () => (box.open ? opened.add(trial.id) : opened.delete(trial.id)));
    return box;
  }

  function show(state) {
    const counts = Object.entries(state.states).map(([name, count]) => `${count} ${name}`).join(", ");
    const children = [make("h2", {}, counts || "no trials yet")];
    if (state.running.length) children.push(table(state.running));
    children.push(...state.stopped.map(stopped));
    children.push(...state.problems.map((problem) => make("p", { class: "warning" }, problem)));
    place.replaceChildren(...children);
  }

  async function look() {
    try {
      const answer = await fetch("state.json", { cache: "no-store" });
      const state = await answer.json();
      show(state);
      if (version !== null && version !== state.version) location.reload(); // the browser keeps the place
      version = state.version;
    } catch (problem) {
      place.replaceChildren(make("p", { class: "warning" }, "The server does not answer; asking again."));
    }
    setTimeout(look, document.hidden ? 5 * PERIOD : PERIOD);
  }

  look();
})();
