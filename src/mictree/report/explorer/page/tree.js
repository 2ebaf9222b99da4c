// Pictures of trees. A tree is a label, or [variable, low, high].

const GAP = 8, LEVEL = 54, BOX = 24, LEAF = 20, RING = 16, MARGIN = 12;
const LETTER = 7.3; // width of a letter of a name
const COLOURS = 10;
const SMALLEST = 0.6; // a tree is shrunk so far to fit, then it scrolls

// Nodes in depth-first order; `path` is [[variable, value], ...] from the root.
const flatten = (tree, path = [], depth = 0) => {
  if (!Array.isArray(tree)) return [{ label: tree, path, depth }];
  const [variable, low, high] = tree;
  const left = flatten(low, [...path, [variable, 0]], depth + 1), right = flatten(high, [...path, [variable, 1]], depth + 1);
  return [{ variable, path, depth, children: [left[0], right[0]] }, ...left, ...right];
};

// Push sibling subtrees together until their outlines touch (Reingold and Tilford, 1981).
const placeNodes = (nodes) => {
  const outlines = new Map();
  for (const node of nodes.slice().reverse()) {
    node.shift = 0;
    const outline = [[-node.width / 2, node.width / 2]];
    outlines.set(node, outline);
    if (!node.children) continue;
    const [low, high] = node.children.map((child) => outlines.get(child));
    let side = 0;
    for (let level = 0; level < Math.min(low.length, high.length); level++) {
      side = Math.max(side, (low[level][1] - high[level][0] + GAP) / 2);
    }
    node.children[0].shift = -side;
    node.children[1].shift = side;
    for (let level = 0; level < Math.max(low.length, high.length); level++) {
      const left = low[level], right = high[level];
      outline.push([
        Math.min(left ? left[0] - side : Infinity, right ? right[0] + side : Infinity),
        Math.max(left ? left[1] - side : -Infinity, right ? right[1] + side : -Infinity),
      ]);
    }
  }
  for (const node of nodes) {
    node.x = node.x ?? node.shift;
    node.y = node.depth * LEVEL;
    for (const child of node.children ?? []) child.x = node.x + child.shift;
  }
};

const pathText = (path, names) => (path.length ? path.map(([variable, value]) => `${names[variable]} is ${value}`).join(", ") : "the root");
const pathKey = (path) => path.map((test) => test.join(":")).join(",");

// A tree in words, for screen readers.
const treeText = (tree, names) => {
  if (!Array.isArray(tree)) return `answer ${tree}`;
  return `test ${names[tree[0]]}: if 0, ${treeText(tree[1], names)}; if 1, ${treeText(tree[2], names)}`;
};

const drawNode = (node, names, fresh) => {
  const name = names[node.variable];
  return svg("g", {}, svg("title", {}, name),
    svg("rect", { class: `box colour${node.variable % COLOURS}${fresh ? " fresh" : ""}`, x: node.x - node.width / 2, y: node.y, width: node.width, height: BOX, rx: 6 }),
    svg("text", { class: "name", x: node.x, y: node.y + 16.5 }, clipped(name)));
};

// `mark` says which open leaf it is: {number, next}.
const drawLeaf = (node, mark) => {
  const one = node.label === 1 ? " one" : "", top = node.y + (BOX - LEAF) / 2, middle = top + LEAF / 2;
  return svg("g", {},
    mark && svg("circle", { class: "ring", cx: node.x, cy: middle, r: RING }),
    mark?.next && svg("circle", { class: "ring next", cx: node.x, cy: middle, r: RING + 4 }),
    svg("rect", { class: `leaf${one}`, x: node.x - LEAF / 2, y: top, width: LEAF, height: LEAF }),
    svg("text", { class: `leaf-label${one}`, x: node.x, y: top + 14.5 }, node.label),
    mark && svg("text", { class: `number${mark.next ? " next" : ""}`, x: node.x, y: middle + RING + 17 }, mark.number));
};

const drawEdge = (node, child, value) => {
  const to = child.children ? child.y : child.y + (BOX - LEAF) / 2;
  const x = node.x + (child.x - node.x) * 0.5, y = node.y + BOX + (to - node.y - BOX) * 0.5;
  return [
    svg("line", { class: "edge", x1: node.x, y1: node.y + BOX, x2: child.x, y2: to }),
    svg("text", { class: "value", x: x + (value ? 7 : -7), y: y + 1 }, value),
  ];
};

// `before` is the tree with one split less; `marks` maps paths of open leaves to their marks.
const drawTree = (tree, before, names, marks, title) => {
  const nodes = flatten(tree);
  for (const node of nodes) {
    if (node.children) node.width = Math.max(34, clipped(names[node.variable]).length * LETTER + 14);
    else node.width = marks.has(pathKey(node.path)) ? 2 * RING + 10 : LEAF;
  }
  placeNodes(nodes);
  const known = new Set(before === undefined ? [] : flatten(before).filter((node) => node.children).map((node) => `${pathKey(node.path)};${node.variable}`));
  const isFresh = (node) => before !== undefined && !known.has(`${pathKey(node.path)};${node.variable}`);
  const left = Math.min(...nodes.map((node) => node.x - node.width / 2)) - MARGIN;
  const right = Math.max(...nodes.map((node) => node.x + node.width / 2)) + MARGIN;
  const height = Math.max(...nodes.map((node) => node.y)) + LEVEL;
  return svg("svg", { viewBox: `${left} -${MARGIN} ${right - left} ${height + MARGIN}`, width: right - left, height: height + MARGIN, role: "img", "aria-label": title },
    nodes.filter((node) => node.children).flatMap((node) => node.children.flatMap((child, value) => drawEdge(node, child, value))),
    nodes.map((node) => (node.children ? drawNode(node, names, isFresh(node)) : drawLeaf(node, marks.get(pathKey(node.path))))));
};

// Put a tree into its place: shrink it if it is too wide, and show the root of a new one in the middle.
const placeTree = (frame, drawing) => {
  const { x, width, height } = drawing.viewBox.baseVal, title = drawing.getAttribute("aria-label");
  const isNew = frame.firstElementChild?.getAttribute("aria-label") !== title;
  frame.replaceChildren(drawing);
  const scale = Math.min(1, Math.max(SMALLEST, frame.clientWidth / width));
  drawing.setAttribute("width", scale * width);
  drawing.setAttribute("height", scale * height);
  markOverflow(frame);
  if (isNew) frame.scrollLeft = -scale * x - frame.clientWidth / 2; // the root is drawn at 0
};
