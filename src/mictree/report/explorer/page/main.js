// The page: a change makes a state, a state a request to the worker, an answer a picture.

const { examples, start } = JSON.parse(find("explorer-data").textContent);
const worker = new Worker(URL.createObjectURL(new Blob([find("twin").textContent], { type: "text/javascript" })));
const waiting = { busy: false, next: new Map(), number: 0 };
const shownNow = { answer: null, state: null, key: "", rest: 0 }; // `state`: the one that is drawn
const REST = 400; // milliseconds without a change after which the table of all ties is computed
const STEPPER = ["smaller", "size", "larger", "play"];
let player = 0;

const requestOf = (state) => Object.fromEntries(Object.entries(state).filter(([name]) => name !== "size" && isUsed(state, name)));
const keyOf = (state) => JSON.stringify(requestOf(state));

// At most one question is under way; of those that wait only the newest of each task counts.
const ask = (task, state) => {
  waiting.next.set(task, { number: ++waiting.number, task, request: requestOf(state), key: keyOf(state) });
  send();
};
const send = () => {
  const question = waiting.next.get("answer") ?? waiting.next.get("ties");
  if (waiting.busy || !question) return;
  waiting.next.delete(question.task);
  waiting.busy = question;
  worker.postMessage(question);
};

worker.onmessage = ({ data: { task, result, refused } }) => {
  const { key } = waiting.busy;
  waiting.busy = false;
  if (key === keyOf(currentState())) {
    if (task === "ties") find("all-ties").replaceChildren(...(result ? drawAllTies(result, currentState()) : []));
    else receive(key, result, refused);
  }
  send();
};
worker.onerror = () => receive("", null, "the computation failed; reload the page");

const receive = (key, result, refused) => {
  find("refused").textContent = refused ?? "";
  find("main").classList.toggle("stale", Boolean(refused));
  find("stale").hidden = !refused || !shownNow.answer;
  find("results").setAttribute("aria-busy", "false");
  for (const id of ["formula", "csv"]) find(id).toggleAttribute("aria-invalid", Boolean(refused));
  shownNow.key = refused ? "" : key;
  if (refused) pause();
  for (const id of STEPPER) find(id).disabled = Boolean(refused);
  if (!result) return;
  shownNow.answer = result;
  drawProblem(result);
  draw();
  clearTimeout(shownNow.rest);
  shownNow.rest = setTimeout(() => ask("ties", currentState()), REST);
};

const drawProblem = (answer) => {
  const state = currentState();
  if (answer.data) {
    showData(answer.data);
    return;
  }
  showBiases(state, answer.names, change);
  const focused = find("truth").contains(document.activeElement) ? document.activeElement.dataset.row : null;
  find("truth").replaceChildren(...drawTruth(answer, toggleRow));
  if (focused !== null) focusTruth(focused);
};

const toggleRow = (row) => change(() => {
  const { names, table } = shownNow.answer;
  return { kind: "table", names, table: table.map((label, place) => (place === row ? 1 - label : label)).join("") };
});

const drawTrees = (answer, state, size, name) => {
  const { greedy, optimal, exact } = answer.errors, step = answer.steps[size];
  const marks = new Map((step?.open ?? []).map((number) => [pathKey(answer.leaves[number].path), { number, next: number === step.leaf }]));
  const parts = [
    ["greedy", name, greedy, exact?.greedy, marks, Math.min(size, answer.steps.length)],
    ["optimal", "best tree", optimal, exact?.optimal, new Map(), size],
  ];
  for (const [kind, title, errors, fractions, shownMarks, splits] of parts) {
    const tree = answer.trees[kind][size], before = kind === "greedy" && splits === size && size ? answer.trees[kind][size - 1] : undefined;
    const text = `${title} after ${size} splits: ${treeText(tree, answer.names)}`;
    find(`${kind}-error`).textContent = `error ${shown(errors[size], fractions?.[size])}`;
    placeTree(find(`${kind}-tree`), drawTree(tree, before, answer.names, shownMarks, text));
  }
};

const verdictOf = ({ errors }, size, name) => {
  const { excess, exact, greedy } = errors, most = greedy.length - 1;
  const splits = size === 1 ? "1 split" : `${size} splits`;
  const here = excess[size] < 1e-12 ? `With ${splits}, ${name} is as good as the best tree.`
    : `With ${splits}, ${name} errs ${shown(excess[size], exact?.excess[size])} more than it must.`;
  return `${here} On average over 1 to ${most} splits it errs ${shown(errors.mic, exact?.mic)} more than it must; this is MIC(${most}).`;
};

// A link may hold any number.
const clamped = (size, most) => Math.min(most, Math.max(0, Math.trunc(size) || 0));

// Draw the current state; while it has no answer, the last one that had.
const draw = () => {
  const { answer } = shownNow;
  if (!answer) return;
  if (keyOf(currentState()) === shownNow.key) shownNow.state = currentState();
  const { state } = shownNow;
  const most = answer.errors.greedy.length - 1, size = clamped(state.size, most), step = answer.steps[size];
  const name = RULE_NAMES[state.rule];
  find("size").max = most;
  find("size").value = size;
  find("size-shown").textContent = `${size} of ${most} splits`;
  find("size").setAttribute("aria-valuetext", `${size} of ${most} splits`);
  find("smaller").disabled = size === 0 || !shownNow.key;
  find("larger").disabled = size === most || !shownNow.key;
  find("verdict").textContent = verdictOf(answer, size, name);
  find("verdict").classList.toggle("worse", answer.errors.excess[size] >= 1e-12);
  find("greedy-title").textContent = `${name}'s tree`;
  find("chart").replaceChildren(drawChart(answer.errors, size, name, find("chart").clientWidth));
  drawTrees(answer, state, size, name);
  find("why").replaceChildren(...reasonsOf(answer, state, size).map((reason) => html("p", {}, reason)));
  find("open-leaves").replaceChildren(...drawOpenLeaves(answer, step));
  find("offers").replaceChildren(...drawOffers(answer, step));
  find("sizes").replaceChildren(...drawSizes(answer, size));
};

// Show the current state; ask for what it needs.
const show = () => {
  const state = currentState(), key = keyOf(state);
  history.replaceState(null, "", writeFragment(state));
  showControls(state);
  if (state.kind !== "data") showBiases(state, namesNow(), change);
  showExample(state);
  if (key === shownNow.key) {
    draw();
  } else {
    find("results").setAttribute("aria-busy", "true");
    ask("answer", state);
  }
};

const namesNow = () => shownNow.answer?.names ?? []; // none before the first answer

const change = (patch, group = null) => {
  const state = currentState();
  remember({ ...state, ...patch(state) }, group);
  show();
};

const showExample = (state) => {
  const place = examples.findIndex((example) => keyOf({ ...DEFAULTS, ...example.state }) === keyOf(state));
  find("example").value = place < 0 ? "" : place;
  find("example-text").textContent = examples[place]?.text ?? "";
};

// A new target starts as a lone leaf; one that is typed again, after an error, where it was.
const sizeOf = (target) => (Object.keys(target).every((name) => String(target[name]) === String(shownNow.state?.[name])) ? shownNow.state.size : 0);

const setSize = (size, group) => change(() => ({ size }), group);
const shownSize = () => Number(find("size").value);

const pause = () => {
  clearInterval(player);
  player = 0;
  find("play").textContent = "Play";
};
const play = () => {
  if (player) return pause();
  if (shownSize() === Number(find("size").max)) setSize(0, "play");
  find("play").textContent = "Pause";
  player = setInterval(() => {
    if (shownSize() >= Number(find("size").max)) pause();
    else setSize(shownSize() + 1, "play");
  }, 1300);
  return undefined;
};

const travel = (by) => { moveInPast(by); show(); };

const copyLink = async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    find("done").textContent = "The link is copied.";
  } catch {
    const field = html("input", { value: location.href, readonly: true, "aria-label": "link to this page" });
    find("done").replaceChildren(field);
    field.select();
  }
};

const openForPrint = () => {
  const closed = [...document.querySelectorAll("details:not([open])")];
  closed.forEach((part) => { part.open = true; });
  find("printed-part").hidden = currentState().kind !== "data"; // a field on paper would show its first lines only
  find("printed-csv").textContent = currentState().csv;
  window.addEventListener("afterprint", () => closed.forEach((part) => { part.open = false; }), { once: true });
};

const listen = () => {
  listenToControls(change, (target) => ({ ...target, size: sizeOf(target) }));
  listenToTour(change);
  find("example").append(html("option", { value: "" }, "your own"), ...examples.map(({ title }, place) => html("option", { value: place }, title)));
  find("example").addEventListener("change", () => {
    const example = examples[find("example").value];
    if (example) change(() => ({ ...DEFAULTS, ...example.state }));
  });
  for (const kind of ["formula", "data"]) find(`kind-${kind}`).addEventListener("change", () => change((state) => startOf(kind, state)));
  find("one-bias").addEventListener("change", () => change((state) => ({
    biases: find("one-bias").checked ? {} : Object.fromEntries(namesNow().map((name) => [name, state.bias])),
  })));
  find("size").addEventListener("input", () => { pause(); setSize(shownSize(), "size"); });
  find("smaller").addEventListener("click", () => { pause(); setSize(shownSize() - 1); });
  find("larger").addEventListener("click", () => { pause(); setSize(shownSize() + 1); });
  find("play").addEventListener("click", play);
  find("chart").addEventListener("click", (event) => shownNow.key && setSize(sizeAt(find("chart").firstElementChild, event.clientX, Number(find("size").max))));
  find("truth").addEventListener("keydown", (event) => moveInTruth(event, shownNow.answer.names));
  find("undo").addEventListener("click", () => travel(-1));
  find("redo").addEventListener("click", () => travel(1));
  find("copy-link").addEventListener("click", copyLink);
  find("save-picture").addEventListener("click", () => saveFile("tree.svg", new XMLSerializer().serializeToString(wholePicture()), "image/svg+xml"));
  find("print").addEventListener("click", () => window.print());
  document.addEventListener("keydown", (event) => {
    const typing = /^(text|number|textarea)$/.test(event.target.type ?? "");
    if (typing || !(event.ctrlKey || event.metaKey) || event.altKey) return;
    const by = { z: event.shiftKey ? 1 : -1, y: 1 }[event.key.toLowerCase()];
    if (by === undefined) return;
    event.preventDefault();
    travel(by);
  });
  window.addEventListener("beforeprint", openForPrint);
  window.addEventListener("resize", draw);
  watchOverflow();
  const narrow = window.matchMedia("screen and (max-width: 58rem)"); // one column, as in explorer.css: the rule folds up, not on paper
  const foldRule = () => { find("rule-part").open = !narrow.matches; };
  narrow.addEventListener("change", foldRule);
  foldRule();
  window.addEventListener("hashchange", () => {
    const state = readFragment(location.hash);
    if (state && writeFragment(state) !== writeFragment(currentState())) change(() => state);
  });
};

// What a kind of target begins with: what was there before (a truth table instead of the formula that
// it replaced), else the target of the first example of its kind. The rule stays as chosen.
const startOf = (kind, state) => {
  if (kind === "formula" && state.table) return { kind: "table", size: 0 };
  const has = { formula: state.formula, data: state.csv }[kind];
  if (has) return { kind, size: 0 };
  const { rule, criterion, ties, ...target } = examples.find((example) => (example.state.kind ?? "formula") === kind).state;
  return { kind, ...target };
};

listen();
remember(readFragment(location.hash) ?? { ...DEFAULTS, ...start }, null);
show();
