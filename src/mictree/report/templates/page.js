"use strict";
// The stepper: trees of one size side by side. Texts are only ever set as text, never as markup.
(() => {
  const cases = JSON.parse(document.getElementById("stepper-data").textContent);
  const find = (id) => document.getElementById(id);
  const chooser = find("case"), slider = find("size");
  const COLOURS = 6, GAP = 6, LEVEL = 44, HEIGHT = 22, LEAF = 18, MARGIN = 4;
  const SMALLEST = 0.7; // a tree is shrunk so far to fit, then it scrolls
  let current = 0;

  const svg = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const html = (name, attributes, text) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const shown = (number) => (number === 0 ? "0" : number.toFixed(4));

  // Push sibling subtrees together until their outlines touch (Reingold and Tilford, 1981).
  const place = (tree, widths) => {
    const shift = widths.map(() => 0), outlines = [];
    for (let node = widths.length - 1; node >= 0; node--) {
      const half = widths[node] / 2;
      outlines[node] = [[-half, half]];
      if (tree.tests[node] < 0) continue;
      const low = outlines[tree.low[node]], high = outlines[tree.high[node]];
      let side = 0;
      for (let level = 0; level < Math.min(low.length, high.length); level++) {
        side = Math.max(side, (low[level][1] - high[level][0] + GAP) / 2);
      }
      shift[tree.low[node]] = -side;
      shift[tree.high[node]] = side;
      for (let level = 0; level < Math.max(low.length, high.length); level++) {
        const left = low[level], right = high[level];
        outlines[node].push([
          Math.min(left ? left[0] - side : Infinity, right ? right[0] + side : Infinity),
          Math.max(left ? left[1] - side : -Infinity, right ? right[1] + side : -Infinity),
        ]);
      }
    }
    const depth = widths.map(() => 0);
    tree.tests.forEach((test, node) => {
      if (test < 0) return;
      for (const child of [tree.low[node], tree.high[node]]) {
        shift[child] += shift[node];
        depth[child] = depth[node] + 1;
      }
    });
    return { centre: shift, depth };
  };

  const pathsOf = (tree) => {
    const paths = [];
    tree.tests.forEach((test, node) => {
      paths[node] = paths[node] || "";
      if (test < 0) return;
      paths[tree.low[node]] = `${paths[node]}${test}:0,`;
      paths[tree.high[node]] = `${paths[node]}${test}:1,`;
    });
    return paths;
  };

  // Nodes that the tree of one size less did not have are framed.
  const newNodes = (tree, before) => {
    if (!before) return new Set();
    const paths = pathsOf(before), known = new Set();
    before.tests.forEach((test, node) => { if (test >= 0) known.add(`${paths[node]}${test}`); });
    const now = pathsOf(tree), fresh = new Set();
    tree.tests.forEach((test, node) => {
      if (test >= 0 && !known.has(`${now[node]}${test}`)) fresh.add(node);
    });
    return fresh;
  };

  const drawTree = (problem, tree, before, label) => {
    const widths = tree.tests.map((test) =>
      test < 0 ? LEAF : 8 * problem.variables[test].length + 9);
    const { centre, depth } = place(tree, widths);
    const left = Math.min(...centre.map((x, node) => x - widths[node] / 2)) - MARGIN;
    const right = Math.max(...centre.map((x, node) => x + widths[node] / 2)) + MARGIN;
    const bottom = Math.max(...depth) * LEVEL + HEIGHT + 2 * MARGIN;
    const drawing = svg("svg", {
      viewBox: `${left} ${-MARGIN} ${right - left} ${bottom}`, width: right - left, height: bottom,
      role: "img", "aria-label": label,
    });
    const fresh = newNodes(tree, before);
    tree.tests.forEach((test, node) => {
      if (test < 0) return;
      for (const child of [tree.low[node], tree.high[node]]) {
        drawing.append(svg("line", {
          class: "edge", x1: centre[node], y1: depth[node] * LEVEL + HEIGHT,
          x2: centre[child], y2: depth[child] * LEVEL,
        }));
      }
    });
    tree.tests.forEach((test, node) => {
      const x = centre[node] - widths[node] / 2, y = depth[node] * LEVEL;
      if (test < 0) {
        const one = tree.labels[node] === 1 ? " one" : "";
        drawing.append(svg("rect", { class: `leaf${one}`, x, y, width: LEAF, height: LEAF }));
        drawing.append(svg("text", { class: `leaf-label${one}`, x: centre[node], y: y + 13.5 }, tree.labels[node]));
        return;
      }
      const term = problem.terms[test];
      const colour = term < 0 ? "none" : `term${term % COLOURS}`;
      drawing.append(svg("rect", {
        class: `node ${colour}${fresh.has(node) ? " new" : ""}`, x, y, width: widths[node], height: HEIGHT, rx: 6,
      }));
      drawing.append(svg("text", { class: "name", x: centre[node], y: y + 15.5 }, problem.variables[test]));
    });
    return drawing;
  };

  const CHART = { widest: 760, height: 215, left: 46, right: 10, top: 30, bottom: 36, key: 98 };

  const drawChart = (problem, size) => {
    const { height, left, right, top, bottom } = CHART;
    // as wide as its place, so that texts keep their size on a phone
    const width = Math.min(CHART.widest, find("chart").clientWidth);
    const most = Math.max(...problem.learners.map((learner) => learner.errors[0])) || 1;
    const x = (at) => left + (at / problem.maxSize) * (width - left - right);
    const y = (error) => top + (1 - error / most) * (height - top - bottom);
    const drawing = svg("svg", {
      viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `errors by size; the line is at size ${size}`,
    });
    drawing.append(svg("path", { class: "axis", d: `M${left},${top}V${height - bottom}H${width - right}` }));
    drawing.append(svg("line", { class: "now", x1: x(size), x2: x(size), y1: top, y2: height - bottom }));
    for (const [at, text] of [[0, "0"], [most, most.toFixed(2)]]) {
      drawing.append(svg("text", { x: left - 6, y: y(at) + 4, "text-anchor": "end" }, text));
    }
    const step = Math.ceil(problem.maxSize / 8);
    for (let at = 0; at <= problem.maxSize; at += step) {
      drawing.append(svg("text", { x: x(at), y: height - bottom + 15, "text-anchor": "middle" }, at));
    }
    drawing.append(svg("text", { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, "size (splits)"));
    drawing.append(svg("text", { x: 12, y: height / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${height / 2})` }, "error"));
    const count = problem.learners.length, key = Math.min(CHART.key, width / count), first = Math.min(left, width - count * key);
    problem.learners.forEach((learner, number) => {
      const points = learner.errors.map((error, at) => `${x(at)},${y(error)}`).join(" ");
      drawing.append(svg("polyline", { class: `curve ${learner.name}`, points }));
      drawing.append(svg("circle", { class: `dot ${learner.name}`, cx: x(size), cy: y(learner.errors[size]), r: 4 }));
      const start = first + key * number;
      drawing.append(svg("line", { class: `curve ${learner.name}`, x1: start, x2: start + 24, y1: 10, y2: 10 }));
      drawing.append(svg("text", { x: start + 29, y: 14 }, learner.name));
    });
    return drawing;
  };

  const drawLearner = (problem, learner, size) => {
    const panel = html("article", { class: "learner" });
    panel.append(html("h3", { class: learner.name }, learner.name));
    const numbers = html("p", {}, `error ${shown(learner.errors[size])}, `);
    const excess = learner.excess[size] < 1e-12 ? 0 : learner.excess[size];
    numbers.append(html("span", { class: excess ? "worse" : "" }, excess ? `excess ${shown(excess)}` : "excess 0"));
    const label = `${learner.name} tree of size ${size}, error ${shown(learner.errors[size])}`;
    const frame = html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label });
    frame.append(drawTree(problem, learner.trees[size], learner.trees[size - 1], label));
    panel.append(numbers, frame);
    return panel;
  };

  // Once in its place, a tree that is too wide is shrunk.
  const fit = () => {
    for (const frame of document.querySelectorAll(".learner .scroll")) {
      const drawing = frame.firstElementChild, { width, height } = drawing.viewBox.baseVal;
      const scale = Math.min(1, Math.max(SMALLEST, frame.clientWidth / width));
      drawing.setAttribute("width", scale * width);
      drawing.setAttribute("height", scale * height);
    }
  };

  const show = () => {
    const problem = cases[current], size = Number(slider.value);
    find("size-shown").textContent = size;
    find("formula").textContent = problem.formula;
    find("biases").textContent = problem.biases;
    find("smaller").disabled = size === 0;
    find("larger").disabled = size === problem.maxSize;
    find("chart").replaceChildren(drawChart(problem, size));
    find("learners").replaceChildren(...problem.learners.map((learner) => drawLearner(problem, learner, size)));
    fit();
    find("spoken").textContent = problem.learners
      .map((learner) => `${learner.name} error ${shown(learner.errors[size])}`).join(", ");
  };

  const choose = (number) => {
    current = number;
    slider.max = cases[current].maxSize;
    slider.value = Math.min(5, cases[current].maxSize);
    show();
  };

  cases.forEach((problem, number) => chooser.append(html("option", { value: number }, problem.title)));
  chooser.addEventListener("change", () => choose(Number(chooser.value)));
  slider.addEventListener("input", show);
  find("smaller").addEventListener("click", () => { slider.stepDown(); show(); });
  find("larger").addEventListener("click", () => { slider.stepUp(); show(); });
  const rows = [...document.querySelectorAll("#statements tbody tr")];
  const filterStatements = () => {
    const words = find("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    const left = rows.filter((row) => !row.hidden).length;
    find("filtered").textContent = words.length ? `${left} of ${rows.length}` : "";
  };
  find("filter").addEventListener("input", filterStatements);
  // A link to a statement opens the section that holds it.
  const openTarget = () => document.getElementById(location.hash.slice(1))?.closest("details")?.setAttribute("open", "");
  window.addEventListener("hashchange", openTarget);
  openTarget();
  // Closed sections are printed too.
  window.addEventListener("beforeprint", () => {
    const closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((part) => { part.open = true; });
    window.addEventListener("afterprint", () => closed.forEach((part) => { part.open = false; }), { once: true });
  });
  window.addEventListener("resize", () => {
    if (cases.length) show();
  });
  if (cases.length) choose(0);
})();
