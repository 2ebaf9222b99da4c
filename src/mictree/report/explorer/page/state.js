// Everything that a reader can choose, as one value. It lives in the link's fragment, and every
// change can be undone.

const DEFAULTS = {
  kind: "formula", formula: "", extra: [], table: "", names: [], csv: "", target: "", positive: "",
  bias: "1/2", biases: {}, rule: "topdown", criterion: "entropy", ties: "last", seed: 0, maxSize: 8, size: 0,
};
const MOST_FRAGMENT = 100000;

const readField = (name, text) => {
  if (Array.isArray(DEFAULTS[name])) return text ? text.split(",") : [];
  if (typeof DEFAULTS[name] === "number") return Number(text);
  if (name !== "biases") return text;
  return Object.fromEntries(text.split(",").filter(Boolean).map((pair) => pair.split(":", 2)).map(([key, bias]) => [key, bias ?? ""]));
};

const writeField = (name, value) => {
  if (Array.isArray(value)) return value.join(",");
  return name === "biases" ? Object.entries(value).map((pair) => pair.join(":")).join(",") : String(value);
};

// The fields that a kind of target does not use are left out.
const UNUSED = {
  formula: ["table", "names", "csv", "target", "positive"],
  table: ["formula", "extra", "csv", "target", "positive"],
  data: ["formula", "extra", "table", "names", "bias", "biases"],
};
const isUsed = ({ kind }, name) => !Object.hasOwn(UNUSED, kind) || !UNUSED[kind].includes(name);

const writeFragment = (state) => {
  const fields = new URLSearchParams();
  for (const name of Object.keys(DEFAULTS)) {
    const text = writeField(name, state[name]);
    if (text !== writeField(name, DEFAULTS[name]) && isUsed(state, name)) fields.set(name, text);
  }
  return `#${fields}`;
};

// A link may come from anybody: unknown fields are dropped, the twin checks all values.
const readFragment = (fragment) => {
  if (fragment.length < 2 || fragment.length > MOST_FRAGMENT) return null;
  const fields = new URLSearchParams(fragment.slice(1)), state = { ...DEFAULTS };
  let known = false;
  for (const [name, text] of fields) {
    if (!Object.hasOwn(DEFAULTS, name)) continue;
    state[name] = readField(name, text);
    known = true;
  }
  return known ? state : null;
};

// States so far; `group` names a drag or a typing, whose steps are undone as one.
const past = { states: [], at: -1, group: null };

const currentState = () => past.states[past.at];

const remember = (state, group) => {
  if (group && group === past.group) {
    past.states[past.at] = state;
  } else {
    past.states.splice(past.at + 1, Infinity, state);
    past.at++;
  }
  past.group = group;
};

const moveInPast = (by) => {
  past.at = Math.min(Math.max(past.at + by, 0), past.states.length - 1);
  past.group = null;
};
