// What is shown as one SVG file: the chart and both trees, with their colours written out.

const COPIED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "text-anchor"];

const styledCopy = (drawing, x, y) => {
  const copy = drawing.cloneNode(true);
  const originals = [drawing, ...drawing.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, place) => {
    const style = getComputedStyle(originals[place]);
    for (const name of COPIED) element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute("class");
  });
  fillElement(copy, { x, y }, []);
  return copy;
};

const wholePicture = () => {
  const gap = 24, line = 22;
  const [chart, greedy, optimal] = ["chart", "greedy-tree", "optimal-tree"].map((id) => find(id).querySelector("svg"));
  const size = (drawing) => ["width", "height"].map((name) => Number(drawing.getAttribute(name)));
  const [[chartWidth, chartHeight], [leftWidth, leftHeight], [rightWidth, rightHeight]] = [chart, greedy, optimal].map(size);
  const texts = ["verdict", "greedy-title", "optimal-title"].map((id) => find(id).textContent);
  const leftRoom = Math.max(leftWidth, texts[1].length * LETTER), rightRoom = Math.max(rightWidth, texts[2].length * LETTER);
  const width = Math.max(chartWidth, leftRoom + gap + rightRoom, texts[0].length * LETTER) + 2 * gap;
  const top = gap + line + chartHeight + gap, height = top + line + Math.max(leftHeight, rightHeight) + gap;
  const style = getComputedStyle(document.body);
  const text = (content, x, y) => svg("text", { x, y, fill: style.color, "font-family": "sans-serif", "font-size": 14 }, content);
  return svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height },
    svg("title", {}, texts[0]),
    svg("rect", { width, height, fill: style.backgroundColor }),
    text(texts[0], gap, gap + 8), styledCopy(chart, gap, gap + line),
    text(texts[1], gap, top + 8), styledCopy(greedy, gap, top + line),
    text(texts[2], gap + leftRoom + gap, top + 8), styledCopy(optimal, gap + leftRoom + gap, top + line));
};

const saveFile = (name, text, type) => {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = html("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
};
