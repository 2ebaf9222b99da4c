// The controls: what they show, and what they change.

const TYPING = 350; // milliseconds of rest after which a text is read
const HUNDREDTHS = 100; // steps of a slider for biases

const choiceFields = { rule: "rule", criterion: "criterion", ties: "ties", target: "target", positive: "positive" };
const numberFields = { seed: "seed", "max-size": "maxSize" };
const splitNames = (text) => text.split(",").map((name) => name.trim()).filter(Boolean);

// Controls that a reader types into keep the text as it is typed.
const setValue = (id, value) => {
  const element = find(id);
  if (element !== document.activeElement || element.tagName === "SELECT") element.value = value;
};

const setOptions = (id, values, chosen) => {
  find(id).replaceChildren(...values.map((value) => html("option", { value }, value)));
  find(id).value = chosen;
};

const hundredths = (text) => {
  try {
    const [top, bottom] = readBias("", text);
    return Math.min(HUNDREDTHS - 1, Math.max(1, Math.round((HUNDREDTHS * Number(top)) / Number(bottom))));
  } catch {
    return HUNDREDTHS / 2;
  }
};

// One row for all variables, or one for each.
const biasRows = (state, names) => (Object.keys(state.biases).length
  ? names.map((name) => [name, state.biases[name] ?? state.bias])
  : [["", state.bias]]);

const showBiases = (state, names, change) => {
  const rows = biasRows(state, names), key = rows.map(([name]) => name).join(",");
  find("one-bias").checked = rows.length === 1 && rows[0][0] === "";
  if (find("biases").dataset.key !== key) {
    find("biases").dataset.key = key;
    find("biases").replaceChildren(...rows.map(([name], place) => biasRow(name, place, change)));
  }
  rows.forEach(([, bias], place) => {
    setValue(`slide-${place}`, hundredths(bias));
    setValue(`bias-${place}`, bias);
    find(`slide-${place}`).setAttribute("aria-valuetext", bias);
  });
};

const biasRow = (name, place, change) => {
  const title = name || "all variables";
  const slider = html("input", { type: "range", id: `slide-${place}`, min: 1, max: HUNDREDTHS - 1, step: 1, "aria-label": `how often ${name || "every variable"} is 1, in hundredths` });
  const text = html("input", { type: "text", id: `bias-${place}`, size: 7, spellcheck: "false", autocomplete: "off", "aria-label": `how often ${name || "every variable"} is 1, as a fraction or decimal`, "aria-describedby": "refused" });
  const set = (value, group) => change((state) => (name ? { biases: { ...state.biases, [name]: value } } : { bias: value }), group);
  slider.addEventListener("input", () => set(String(Number(slider.value) / HUNDREDTHS), `slide-${place}`));
  slider.addEventListener("change", () => { past.group = null; });
  whenTyped(text, () => set(text.value, `bias-${place}`));
  return html("div", { class: "bias" }, html("span", { class: "bias-name" }, title), slider, text);
};

const whenTyped = (element, act) => {
  let timer = 0;
  const now = () => { clearTimeout(timer); timer = 0; act(); };
  element.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(now, TYPING); });
  element.addEventListener("change", () => { if (timer) now(); past.group = null; });
};

const showControls = (state) => {
  find("kind-data").checked = state.kind === "data";
  find("kind-formula").checked = state.kind !== "data";
  find("formula-part").hidden = state.kind === "data";
  find("data-part").hidden = state.kind !== "data";
  setValue("formula", state.kind === "table" ? "" : state.formula);
  find("formula").placeholder = state.kind === "table" ? "your own truth table; type a formula to leave it" : "such as a & b | ~c";
  setValue("extra", state.extra.join(", "));
  find("extra").disabled = state.kind === "table";
  setValue("csv", state.csv);
  for (const [id, field] of Object.entries(choiceFields)) if (id !== "target" && id !== "positive") setValue(id, state[field]);
  for (const [id, field] of Object.entries(numberFields)) setValue(id, state[field]);
  find("rule-shown").textContent = `${RULE_NAMES[state.rule] ?? ""}, ${state.criterion}, ties ${state.ties}, up to ${state.maxSize} splits`;
  find("rule-help").textContent = RULE_HELP[state.rule] ?? "";
  find("seed-part").hidden = state.ties !== "random";
  find("undo").disabled = past.at <= 0;
  find("redo").disabled = past.at >= past.states.length - 1;
};

const showData = ({ columns, target, values, positive, tests, offered, doubts }) => {
  setOptions("target", columns, target);
  setOptions("positive", values, positive);
  const kept = offered > tests.length ? ` the ${tests.length} of largest gain, of ${offered} possible ones` : tests.length === 1 ? " one" : ` all ${tests.length}`;
  find("tests-help").textContent = `Questions that a tree may ask here:${kept}. Numbers and dates are compared with thresholds near their quartiles, texts with each value.${doubts.map(([name, doubt]) => ` Dates in ${name} are texts: ${doubt}`).join("")}`;
  find("tests").replaceChildren(...tests.map((test) => html("li", {}, test)));
};

// `begin` gives a new target its first size.
const listenToControls = (change, begin) => {
  const typed = (id, patch) => whenTyped(find(id), () => change(() => patch(find(id).value), id));
  typed("formula", (formula) => begin({ kind: "formula", formula, table: "", names: [] }));
  typed("extra", (text) => ({ extra: splitNames(text) }));
  typed("csv", (csv) => begin({ csv, target: "", positive: "" }));
  for (const [id, field] of Object.entries(numberFields)) typed(id, (text) => ({ [field]: Number(text) }));
  for (const [id, field] of Object.entries(choiceFields)) {
    find(id).addEventListener("change", () => change(() => (id === "target" ? begin({ target: find(id).value, positive: "" }) : { [field]: find(id).value })));
  }
  find("draw-again").addEventListener("click", () => change((state) => ({ seed: (state.seed + 1) % 2 ** 31 })));
};
