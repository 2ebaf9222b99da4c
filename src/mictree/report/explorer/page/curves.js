// The two error curves, the excess shaded between them, and MIC as its mean.

const CHART = { widest: 900, height: 250, left: 50, right: 14, top: 34, bottom: 40 };

const axisSteps = (most) => {
  const step = [0.01, 0.02, 0.05, 0.1, 0.2].find((each) => most / each <= 5) ?? 0.5;
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, number) => Number((number * step).toFixed(4)));
};

const drawKey = (items, left) => {
  let at = left;
  return items.flatMap(([kind, title]) => {
    const from = at;
    at += 46 + title.length * LETTER;
    return [
      kind === "excess" ? svg("rect", { class: "excess", x: from, y: 6, width: 24, height: 12 })
        : svg("line", { class: `curve ${kind}`, x1: from, x2: from + 24, y1: 12, y2: 12 }),
      svg("text", { x: from + 30, y: 16 }, title),
    ];
  });
};

const drawChart = (errors, size, ruleName, room) => {
  const { height, left, right, top, bottom } = CHART, width = Math.max(260, Math.min(CHART.widest, room));
  const sizes = errors.greedy.length - 1, most = Math.max(errors.greedy[0], errors.optimal[0]) || 1;
  const x = (at) => left + (at / sizes) * (width - left - right);
  const y = (error) => top + (1 - error / most) * (height - top - bottom);
  const points = (curve) => curve.map((error, at) => `${x(at)},${y(error)}`);
  const area = [...points(errors.greedy), ...points(errors.optimal).reverse()].join(" ");
  const every = Math.ceil(sizes / Math.max(2, Math.floor(width / 45)));
  const ticks = errors.greedy.map((_, at) => at).filter((at) => at % every === 0);
  const title = `Errors by number of splits. With ${size}, ${ruleName} errs ${decimal(errors.greedy[size])}, the best tree ${decimal(errors.optimal[size])}. MIC(${sizes}) is ${decimal(errors.mic)}.`;
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": title },
    axisSteps(most).map((error) => [
      svg("line", { class: "grid", x1: left, x2: width - right, y1: y(error), y2: y(error) }),
      svg("text", { class: "tick", x: left - 6, y: y(error) + 4, "text-anchor": "end" }, error),
    ]),
    svg("polygon", { class: "excess", points: area }),
    svg("line", { class: "at", x1: x(size), x2: x(size), y1: top, y2: height - bottom }),
    svg("path", { class: "axis", d: `M${left},${top}V${height - bottom}H${width - right}` }),
    ticks.map((at) => svg("text", { class: "tick", x: x(at), y: height - bottom + 16, "text-anchor": "middle" }, at)),
    svg("text", { x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle" }, "number of splits"),
    svg("text", { x: 13, y: (top + height - bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 13 ${(top + height - bottom) / 2})` }, "error"),
    svg("polyline", { class: "curve greedy", points: points(errors.greedy).join(" ") }),
    svg("polyline", { class: "curve optimal", points: points(errors.optimal).join(" ") }), // dashed: both are seen where they agree
    svg("circle", { class: "dot optimal", cx: x(size), cy: y(errors.optimal[size]), r: 5 }),
    svg("circle", { class: "dot greedy", cx: x(size), cy: y(errors.greedy[size]), r: 5 }),
    drawKey([["greedy", ruleName], ["optimal", "best"], ["excess", width < 480 ? "excess" : `excess; its mean: ${decimal(errors.mic)}`]], width < 480 ? 8 : left));
};

// The number of splits under a click.
const sizeAt = (drawing, clientX, sizes) => {
  const box = drawing.getBoundingClientRect(), scale = drawing.viewBox.baseVal.width / box.width;
  const share = ((clientX - box.left) * scale - CHART.left) / (drawing.viewBox.baseVal.width - CHART.left - CHART.right);
  return Math.min(sizes, Math.max(0, Math.round(share * sizes)));
};
